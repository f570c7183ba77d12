import type { ReactiveController, ReactiveControllerHost } from 'lit'

/** Draws its host anew ten times a second while wanted: for times that run. */
export class Clock implements ReactiveController {
  now = Date.now()
  private timer?: ReturnType<typeof setInterval>

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly wanted: () => boolean,
  ) {
    host.addController(this)
  }

  hostUpdate(): void {
    this.now = Date.now()
    if (this.wanted() === (this.timer !== undefined)) return
    if (this.timer === undefined) this.timer = setInterval(() => this.host.requestUpdate(), 100)
    else this.stop()
  }

  hostDisconnected(): void {
    this.stop()
  }

  private stop(): void {
    clearInterval(this.timer)
    this.timer = undefined
  }
}
