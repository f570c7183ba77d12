/** Waiting times between attempts to connect: 250 ms doubling to 5 s, each shortened at random so that a class does not come back at once. */
export class Backoff {
  private attempt = 0

  constructor(private readonly random: () => number = Math.random) {}

  next(): number {
    const full = Math.min(5000, 250 * 2 ** this.attempt)
    this.attempt++
    return Math.round(full * (0.6 + 0.4 * this.random()))
  }

  reset(): void {
    this.attempt = 0
  }
}
