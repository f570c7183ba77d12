import type { Column, Grid, Handout, Row, Stats, WarmUp } from './protocol/class-messages'
import { Connection, type ConnectionState } from './protocol/connection'
import type { Requests, ServerMessage } from './protocol/messages'

const nothing: Grid = { class: { id: '', name: '' }, now: '', lesson: '', lessons: [], checks: [], rows: [], stats: [], handout: null }

/** What an instructor's page knows of a class, kept up to date by the websocket. It tells of each change by an event `change`. */
export class ClassSession extends EventTarget {
  grid: Grid = nothing
  warmUp: WarmUp = { wanted: 0, ready: 0, underWay: false }
  /** How far the server's clock is ahead of this machine's, in ms. */
  private ahead = 0
  /** The lesson that the instructor chose. */
  private chosen = ''
  private lost = false
  private readonly connection: Connection

  constructor(open: () => WebSocket, probe: () => Promise<number>) {
    super()
    this.connection = new Connection({ open, probe }, { state: () => this.turned(), message: (m) => this.take(m), frame: () => undefined })
  }

  get connected(): ConnectionState {
    return this.connection.state
  }

  /** The server's time, in ms since the epoch. */
  get now(): number {
    return Date.now() + this.ahead
  }

  /** The page knows the class. */
  get known(): boolean {
    return this.grid !== nothing
  }

  connect(): void {
    this.connection.connect()
  }

  hurry(): void {
    this.connection.hurry()
  }

  request<T extends keyof Requests>(type: T, fields: Requests[T]['fields']): Promise<Requests[T]['value']> {
    return this.connection.request(type, fields)
  }

  show(lesson: string): Promise<unknown> {
    this.chosen = lesson
    return this.request('class.show', { lesson })
  }

  row(learner: string): Row | undefined {
    return this.grid.rows.find((row) => row.learner === learner)
  }

  private take(message: ServerMessage): void {
    switch (message.type) {
      case 'class.grid': {
        const wanted = this.lost ? this.chosen : ''
        this.lost = false
        this.ahead = Date.parse(message.now) - Date.now()
        this.grid = message
        // After a reconnect the page goes on looking where it did.
        if (wanted && wanted !== message.lesson) this.request('class.show', { lesson: wanted }).catch(() => undefined)
        break
      }
      case 'class.row':
        if (message.lesson === this.grid.lesson) this.set({ rows: this.grid.rows.map((row) => (row.learner === message.row.learner ? message.row : row)) })
        break
      case 'class.stats':
        if (message.lesson === this.grid.lesson) this.set({ stats: message.stats })
        break
      case 'class.handout':
        this.set({ handout: message.handout })
        break
      case 'class.warmup':
        this.warmUp = message.warmUp
        break
      default:
        return
    }
    this.changed()
  }

  private turned(): void {
    if (this.connected !== 'open') this.lost = true
    this.changed()
  }

  private set(change: { rows?: Row[]; stats?: Stats[]; checks?: Column[]; handout?: Handout }): void {
    this.grid = { ...this.grid, ...change }
  }

  private changed(): void {
    this.dispatchEvent(new Event('change'))
  }
}
