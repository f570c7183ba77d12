/** Where a page stands in one terminal's output: each byte is drawn once, in order. */
export class OutputCursor {
  private reported = 0
  private drawnTo = 0

  /** Offset of the next byte wanted. */
  next = 0

  /** The server goes on at an offset: the reply to an attach. */
  resume(from: number): void {
    this.next = from
    this.drawnTo = from
    this.reported = from
  }

  /** Returns what is new in a frame, or undefined when all of it was drawn before; missing counts bytes that never came. */
  accept(offset: number, payload: Uint8Array): { bytes: Uint8Array; missing: number } | undefined {
    const end = offset + payload.length
    if (end <= this.next) return undefined
    const missing = Math.max(0, offset - this.next)
    const bytes = payload.subarray(Math.max(0, this.next - offset))
    this.next = end
    return { bytes, missing }
  }

  /** Notes that bytes are on the screen; returns the offset to report, when one is due. */
  drawn(to: number): number | undefined {
    this.drawnTo = Math.max(this.drawnTo, to)
    if (this.drawnTo - this.reported < reportEvery) return undefined
    this.reported = this.drawnTo
    return this.drawnTo
  }
}

/** The server sends at most 512 KiB beyond the last report; an eighth of it keeps the stream moving. */
const reportEvery = 64 * 1024
