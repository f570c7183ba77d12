import { encode, Kind, type Frame } from './frames'
import { InputLog } from './input'
import type { Attached, TerminalSize } from './messages'
import { OutputCursor } from './output'

/** Where a terminal's bytes are drawn. */
export interface Screen {
  /** Draws bytes and calls done when they are on the screen. History must not be answered by the screen. */
  write(bytes: Uint8Array, history: boolean, done: () => void): void
  /** So many bytes of output are lost for good. */
  lost(bytes: number): void
  /** What is drawn next was made for another size. */
  resize(cols: number, rows: number): void
  /** All history has been given to draw, and the size is the terminal's: from here on the screen may have its own. */
  caughtUp(): void
}

interface Transport {
  attach(from: number): Promise<Attached>
  send(frame: Uint8Array<ArrayBuffer>): boolean
}

/** One terminal of the server, as this page load sees it: survives any number of connections. */
export class TerminalLink {
  private readonly input = new InputLog()
  private readonly output = new OutputCursor()
  private attached = false
  private attempt = 0
  private early: Frame[] = []
  private historyEnd?: number
  private sizes: TerminalSize[] = []
  private replaying = true

  constructor(
    readonly id: number,
    private readonly transport: Transport,
    private readonly screen: Screen,
  ) {}

  /** Attaches, after each connect: output goes on where it stopped, and input that was not taken is sent again. */
  async attach(): Promise<void> {
    const attempt = ++this.attempt
    this.detach()
    const reply = await this.transport.attach(this.output.next)
    if (attempt !== this.attempt) return
    // What was there before this page load has been answered by another page, or by nobody. What was printed while
    // this page was away is news, and may be answered.
    if (this.historyEnd === undefined) {
      this.historyEnd = reply.end ?? 0
      this.sizes = reply.sizes ?? []
    }
    if (reply.gap > 0) this.screen.lost(reply.gap)
    this.output.resume(reply.from)
    this.replay(reply.from)
    this.attached = true
    for (const chunk of this.input.resume(reply.acked)) this.transmit(chunk.offset, chunk.bytes)
    for (const frame of this.early.splice(0)) this.receive(frame)
  }

  /** The connection is gone, or about to be asked anew. Typing goes on and is kept. */
  detach(): void {
    this.attached = false
    this.early = []
  }

  type(bytes: Uint8Array): void {
    for (const chunk of this.input.push(bytes)) if (this.attached) this.transmit(chunk.offset, chunk.bytes)
  }

  receive(frame: Frame): void {
    if (!this.attached) {
      this.early.push(frame)
    } else if (frame.kind === Kind.ack) {
      this.input.ack(frame.offset)
    } else if (frame.kind === Kind.output) {
      this.draw(frame)
    }
  }

  private draw(frame: Frame): void {
    const fresh = this.output.accept(frame.offset, frame.payload)
    if (!fresh) return
    if (fresh.missing > 0) this.screen.lost(fresh.missing)
    const end = this.output.next
    let at = end - fresh.bytes.length
    const take = (to: number) => fresh.bytes.subarray(fresh.bytes.length - (end - at), fresh.bytes.length - (end - to))
    while (this.replaying && at < end) {
      const to = Math.min(end, this.sizes[0]?.at ?? end, this.historyEnd ?? 0)
      if (to > at) this.write(take(to), to, true)
      at = Math.max(at, to)
      this.replay(at)
    }
    if (at < end) this.write(take(end), end, false)
  }

  /** History is drawn up to an offset: what follows has another size, or is news. */
  private replay(to: number): void {
    if (!this.replaying) return
    this.replaying = to < (this.historyEnd ?? 0)
    const due = this.replaying ? this.sizes.filter((size) => size.at <= to) : this.sizes
    this.sizes = this.sizes.slice(due.length)
    const now = due.at(-1)
    if (now) this.screen.resize(now.cols, now.rows)
    if (!this.replaying) this.screen.caughtUp()
  }

  private write(bytes: Uint8Array, end: number, history: boolean): void {
    this.screen.write(bytes, history, () => {
      const report = this.output.drawn(end)
      if (report !== undefined) this.transport.send(encode(Kind.flow, this.id, report))
    })
  }

  private transmit(offset: number, bytes: Uint8Array): void {
    this.transport.send(encode(Kind.input, this.id, offset, bytes))
  }
}
