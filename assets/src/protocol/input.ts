export interface Chunk {
  offset: number
  bytes: Uint8Array
}

/** A frame of pasted text stays far below the server's 1 MiB bound, and typing goes on in between. */
const largest = 16 * 1024

/**
 * What was typed into one terminal and is not yet acknowledged. It is sent again after a lost connection; the offsets
 * let the server drop what it has taken, so nothing is typed twice.
 */
export class InputLog {
  private chunks: Chunk[] = []
  private end = 0

  /** Appends bytes and returns the frames to send. */
  push(bytes: Uint8Array): Chunk[] {
    const added: Chunk[] = []
    for (let at = 0; at < bytes.length; at += largest) {
      const part = bytes.slice(at, at + largest)
      added.push({ offset: this.end, bytes: part })
      this.end += part.length
    }
    this.chunks.push(...added)
    return added
  }

  /** Forgets what lies below the offset. */
  ack(offset: number): void {
    while (this.chunks[0] && this.chunks[0].offset + this.chunks[0].bytes.length <= offset) this.chunks.shift()
    const first = this.chunks[0]
    if (first && first.offset < offset) {
      this.chunks[0] = { offset, bytes: first.bytes.subarray(offset - first.offset) }
    }
  }

  /**
   * Takes up again after an attach, where the server says what it has taken of this writer, and returns what to send.
   * A server that counts from elsewhere has lost its state: what was typed then is unknown ground and is not sent.
   */
  resume(acked: number): Chunk[] {
    const start = this.chunks[0]?.offset ?? this.end
    if (acked < start || acked > this.end) {
      this.chunks = []
      this.end = acked
    } else {
      this.ack(acked)
    }
    return [...this.chunks]
  }

  get unacknowledged(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.bytes.length, 0)
  }
}
