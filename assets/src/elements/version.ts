import { html, nothing } from 'lit'
import { customElement } from 'lit/decorators.js'
import { repeat } from 'lit/directives/repeat.js'
import { session } from '../page-session'
import { LightElement, Listening } from './base'

interface Tick {
  rv: string
  height: number
}

const kept = 11

/** The newest resourceVersion of the cluster, and the last ones as ticks: taller when more was written in between. */
@customElement('apilab-version')
export class ApilabVersion extends LightElement {
  private ticks: Tick[] = []

  constructor() {
    super()
    new Listening(this, session, ['rv'])
  }

  override willUpdate(): void {
    const last = this.ticks.at(-1)
    if (!session.rv || session.rv === last?.rv) return
    // A picture may take the difference; it counts the writes to the whole store in between.
    const written = last ? Number(session.rv) - Number(last.rv) : 1
    const height = Number.isFinite(written) && written > 0 ? Math.min(100, 30 + 22 * Math.log2(1 + written)) : 30
    this.ticks = [...this.ticks.slice(1 - kept), { rv: session.rv, height }]
  }

  override render() {
    if (!session.rv) return nothing
    return html`<span class="version" title="Newest resourceVersion seen in the cluster">
      <span class="ticks" aria-hidden="true">${repeat(
        this.ticks,
        (tick) => tick.rv,
        (tick) => html`<i style="--height:${tick.height.toFixed(0)}%"></i>`,
      )}</span>
      <span><span class="version-label">rv </span><span class="version-value">${session.rv}</span></span>
    </span>`
  }
}
