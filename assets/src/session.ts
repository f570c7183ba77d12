import { Connection, type ConnectionState } from './protocol/connection'
import type { Frame } from './protocol/frames'
import type { LearnersClass } from './protocol/class-messages'
import type { ClusterStatus, EditorRequest, ExerciseState, Level, Requests, ServerMessage, TerminalInfo } from './protocol/messages'

/** What changed; each is an event of the session. */
export type Change = 'connection' | 'hello' | 'cluster' | 'rv' | 'exercises' | 'terminals' | 'editors' | 'notices' | 'class'

export interface Notice {
  id: number
  level: Level
  text: string
  /** The notice offers to load the page again. */
  reload?: boolean
}

/**
 * What the page knows of the learner's cluster, terminals and exercises, kept up to date by the websocket. Elements
 * read it and listen to the events of what they draw.
 */
export class Session extends EventTarget {
  cluster?: ClusterStatus
  /** What the server offers: kinds of clusters by name. */
  backends: string[] = []
  rv = ''
  version = ''
  private run?: string
  shell: 'sandboxed' | 'host' = 'sandboxed'
  terminals: TerminalInfo[] = []
  editors: EditorRequest[] = []
  notices: Notice[] = []
  class: LearnersClass = { member: false, messages: [], observers: [], closed: [] }
  /** The page observes the learner, by this ID; empty: it is their own. */
  observer = ''
  readonly exercises = new Map<string, ExerciseState>()
  /** Names this page load to the terminals, so that input sent again is not typed twice. */
  readonly writer = randomName()

  private readonly connection: Connection
  private readonly frames = new Map<number, (frame: Frame) => void>()
  private noticeID = 0

  constructor(
    open: () => WebSocket,
    probe: () => Promise<number>,
    /** Loads the page again. */
    readonly reload: () => void,
  ) {
    super()
    this.connection = new Connection(
      { open, probe },
      { state: () => this.changed('connection'), message: (m) => this.take(m), frame: (f) => this.frames.get(f.terminal)?.(f) },
    )
  }

  get connected(): ConnectionState {
    return this.connection.state
  }

  get retryAt(): number {
    return this.connection.retryAt
  }

  get ready(): boolean {
    return this.connected === 'open' && this.cluster?.state === 'ready'
  }

  connect(): void {
    this.connection.connect()
  }

  hurry(): void {
    this.connection.hurry()
  }

  /** Ends the connection for good. */
  close(): void {
    this.connection.close()
  }

  request<T extends keyof Requests>(type: T, fields: Requests[T]['fields']): Promise<Requests[T]['value']> {
    return this.connection.request(type, fields)
  }

  send(frame: Uint8Array<ArrayBuffer>): boolean {
    return this.connection.send(frame)
  }

  /** Hands a terminal's frames to one receiver; returns how to stop. */
  receive(terminal: number, take: (frame: Frame) => void): () => void {
    this.frames.set(terminal, take)
    return () => {
      if (this.frames.get(terminal) === take) this.frames.delete(terminal)
    }
  }

  exercise(id: string): ExerciseState | undefined {
    return this.exercises.get(id)
  }

  /** Takes a snapshot that came as a reply. A check that was pushed meanwhile, and is newer, stays. */
  keep(state: ExerciseState): void {
    const now = this.exercises.get(state.id)?.checks ?? []
    const checks = state.checks.map((check) => now.find((other) => other.id === check.id && other.revision > check.revision) ?? check)
    this.push({ ...state, checks })
  }

  notify(level: Level, text: string, reload = false): void {
    if (this.notices.some((n) => n.text === text)) return
    this.notices = [...this.notices, { id: ++this.noticeID, level, text, reload }]
    this.changed('notices')
  }

  dismiss(id: number): void {
    this.notices = this.notices.filter((n) => n.id !== id)
    this.changed('notices')
  }

  editorClosed(token: string): void {
    this.editors = this.editors.filter((e) => e.token !== token)
    this.changed('editors')
  }

  on(change: Change, listener: () => void): () => void {
    this.addEventListener(change, listener)
    return () => this.removeEventListener(change, listener)
  }

  /** After hello the server names the editors that are still wanted; by the time it answers a ping it has named all. */
  private reviewEditors(): void {
    const before = this.editors
    if (before.length === 0) return
    this.request('ping', {})
      .catch(() => undefined)
      .finally(() => {
        if (this.connected !== 'open') return
        for (const editor of before) if (this.editors.includes(editor)) this.editorClosed(editor.token)
      })
  }

  private push(state: ExerciseState): void {
    this.exercises.set(state.id, state)
    this.changed('exercises')
  }

  private changed(change: Change): void {
    this.dispatchEvent(new Event(change))
  }

  private take(message: ServerMessage): void {
    switch (message.type) {
      case 'hello':
        if (this.version && this.version !== message.version) {
          this.notify('info', `apilab was updated to ${message.version}. Load the page again to use it.`)
        }
        this.version = message.version
        if (this.run && message.run && this.run !== message.run) {
          this.notify('info', 'apilab was started again. Your cluster, files and progress are as they were; terminals begin anew.')
        }
        this.run = message.run
        this.shell = message.shell
        this.cluster = message.cluster
        this.backends = message.backends ?? []
        this.rv = message.rv
        this.terminals = message.terminals ?? []
        if (message.class) this.class = message.class
        this.observer = message.observer ?? ''
        // A server that was started again has none open: they are drawn as they were, and their cards open them again.
        for (const [id, state] of this.exercises) this.exercises.set(id, { ...state, phase: 'closed' })
        for (const state of message.exercises ?? []) this.exercises.set(state.id, state)
        this.reviewEditors()
        for (const change of ['hello', 'cluster', 'rv', 'terminals', 'exercises', 'class', 'connection'] as const) this.changed(change)
        break
      case 'cluster':
        this.cluster = message.status
        this.changed('cluster')
        break
      case 'rv':
        this.rv = message.resourceVersion
        this.changed('rv')
        break
      case 'exercise':
        this.push(message.state)
        break
      case 'terminals':
        this.terminals = message.terminals ?? []
        this.changed('terminals')
        break
      case 'editor':
        this.editors = [...this.editors.filter((e) => e.token !== message.token), message]
        this.changed('editors')
        break
      case 'editor.gone':
        this.editorClosed(message.token)
        break
      case 'notice':
        this.notify(message.level, message.text)
        break
      case 'class':
        this.class = message
        this.changed('class')
        break
      case 'content':
        if (message.reload) this.reload()
        else this.notify('info', 'The lessons have changed.', true)
        break
      case 'bye':
        this.notify('warning', message.reason)
        break
    }
  }
}

function randomName(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('')
}
