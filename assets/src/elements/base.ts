import { LitElement, type ReactiveController, type ReactiveControllerHost } from 'lit'
import type { Change, Session } from '../session'

/**
 * An element that renders in light DOM, so that the page's one style sheet covers it. It renders into its child marked
 * data-live, and replaces there what the server drew; an element without such a child renders into itself.
 */
export class LightElement extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    const live = this.querySelector<HTMLElement>(':scope > [data-live]') ?? this
    live.replaceChildren()
    return live
  }
}

/** Draws its host anew when something of the session changed. */
export class Listening implements ReactiveController {
  private stops: (() => void)[] = []

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly session: Session,
    private readonly changes: Change[],
  ) {
    host.addController(this)
  }

  hostConnected(): void {
    this.stops = this.changes.map((change) => this.session.on(change, () => this.host.requestUpdate()))
  }

  hostDisconnected(): void {
    for (const stop of this.stops) stop()
    this.stops = []
  }
}
