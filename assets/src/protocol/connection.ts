import { Backoff } from './backoff'
import { decode, type Frame } from './frames'
import type { Reply, Requests, ServerMessage } from './messages'

/** `lost` waits to try again, `refused` means that the server answers but does not let this browser in. */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'refused'

/** The server said no; the message is a sentence for the learner. */
export class Refused extends Error {}

/** The connection went away before the answer came, or is not there. */
export class Disconnected extends Error {
  constructor() {
    super('The page is not connected to apilab right now.')
  }
}

export interface Handlers {
  state(state: ConnectionState): void
  message(message: ServerMessage): void
  frame(frame: Frame): void
}

interface Pending {
  resolve(value: unknown): void
  reject(reason: Error): void
}

interface Environment {
  open(): WebSocket
  /** The status that a plain request for the page gets; 0 when nothing answers. */
  probe(): Promise<number>
  backoff?: Backoff
}

const askAfter = 15_000
const giveUpAfter = 45_000
/** Closes the websocket of a session that has ended. */
const signedOut = 4401

/** The page's one websocket: requests with replies, heartbeat, reconnect. It knows nothing of what the messages mean. */
export class Connection {
  state: ConnectionState = 'connecting'
  /** When the next attempt is due, in ms since the epoch; 0 when none waits. */
  retryAt = 0

  private socket?: WebSocket
  private heardAt = 0
  private askedAt = 0
  private failures = 0
  private lastID = 0
  private readonly pending = new Map<number, Pending>()
  private readonly backoff: Backoff
  private retryTimer?: ReturnType<typeof setTimeout>
  private heartbeat?: ReturnType<typeof setInterval>

  constructor(
    private readonly environment: Environment,
    private readonly handlers: Handlers,
  ) {
    this.backoff = environment.backoff ?? new Backoff()
  }

  connect(): void {
    clearTimeout(this.retryTimer)
    this.retryAt = 0
    if (this.socket) return
    this.set('connecting')
    const socket = this.environment.open()
    socket.binaryType = 'arraybuffer'
    this.socket = socket
    socket.onopen = () => {
      this.heard()
      this.heartbeat = setInterval(() => this.beat(), 5000)
    }
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      this.heard()
      this.receive(event.data)
    }
    socket.onclose = (event) => this.lose(socket, event.code === signedOut)
  }

  /** Tries at once when the network comes back or the learner asks. */
  hurry(): void {
    if (this.state === 'open') this.beat()
    else this.connect()
  }

  /** Ends it for good. */
  close(): void {
    clearTimeout(this.retryTimer)
    const socket = this.socket
    if (!socket) return
    this.drop(socket)
    socket.close()
  }

  request<T extends keyof Requests>(type: T, fields: Requests[T]['fields']): Promise<Requests[T]['value']> {
    const socket = this.socket
    if (socket?.readyState !== WebSocket.OPEN) return Promise.reject(new Disconnected())
    const id = ++this.lastID
    socket.send(JSON.stringify({ ...fields, type, id }))
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }))
  }

  /** Sends a frame; false when it cannot be sent now. */
  send(frame: Uint8Array<ArrayBuffer>): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false
    this.socket.send(frame)
    return true
  }

  private receive(data: string | ArrayBuffer): void {
    if (typeof data !== 'string') {
      const frame = decode(data)
      if (frame) this.handlers.frame(frame)
      return
    }
    const message = JSON.parse(data) as ServerMessage | Reply
    if (message.type === 'reply') {
      this.answer(message)
      return
    }
    if (message.type === 'hello' || message.type === 'class.grid') {
      this.failures = 0
      this.backoff.reset()
      this.set('open')
    }
    this.handlers.message(message)
  }

  private answer(reply: Reply): void {
    const pending = this.pending.get(reply.id)
    this.pending.delete(reply.id)
    if (reply.ok) pending?.resolve(reply.value)
    else pending?.reject(new Refused(reply.error ?? 'apilab could not do this.'))
  }

  private heard(): void {
    this.heardAt = Date.now()
  }

  /** A browser shows no websocket pings to the page, so the page asks itself when it has heard nothing. */
  private beat(): void {
    const silence = Date.now() - this.heardAt
    if (silence >= giveUpAfter && this.socket) {
      const dead = this.socket
      this.lose(dead)
      dead.close()
    } else if (silence >= askAfter && Date.now() - this.askedAt >= askAfter) {
      this.askedAt = Date.now()
      this.request('ping', {}).catch(() => undefined) // a refusal is a sign of life too
    }
  }

  private lose(socket: WebSocket, ended = false): void {
    if (socket !== this.socket) return
    this.drop(socket)
    this.failures++
    const wait = this.backoff.next()
    this.retryAt = Date.now() + wait
    this.retryTimer = setTimeout(() => this.connect(), wait)
    // A refused handshake looks like a dead server to a websocket; a plain request tells them apart.
    if (this.failures === 2 || this.failures % 8 === 0) void this.explain()
    else if (this.state !== 'refused') this.set('lost')
    if (ended) void this.explain()
  }

  /** Forgets the socket and whoever waits for its answers. */
  private drop(socket: WebSocket): void {
    this.socket = undefined
    socket.onclose = null
    socket.onmessage = null
    clearInterval(this.heartbeat)
    for (const pending of this.pending.values()) pending.reject(new Disconnected())
    this.pending.clear()
  }

  private async explain(): Promise<void> {
    const status = await this.environment.probe()
    if (this.state === 'open') return
    this.set(status === 401 || status === 403 ? 'refused' : 'lost')
  }

  private set(state: ConnectionState): void {
    // Between attempts the learner sees one steady "reconnecting", not a flicker of states.
    if (state === 'connecting' && this.failures > 0) state = this.state
    if (state === this.state && state === 'open') return
    this.state = state
    this.handlers.state(state)
  }
}
