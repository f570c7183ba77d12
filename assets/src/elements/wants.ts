import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { about, yours } from '../backends'
import { switchTo } from '../cluster-actions'
import { session } from '../page-session'
import { LightElement, Listening } from './base'
import { onItsWay } from './phases'

/**
 * Where a lesson or an exercise needs a kind of cluster that the learner is not on: the server drew the sentence that says
 * why, this offers the way there.
 */
@customElement('apilab-wants')
export class ApilabWants extends LightElement {
  @property() backend = ''

  constructor() {
    super()
    new Listening(this, session, ['cluster', 'connection'])
  }

  override willUpdate(): void {
    if (session.cluster) this.hidden = session.cluster.backend === this.backend
  }

  override render() {
    const status = session.cluster
    if (session.connected !== 'open' || !status) return nothing
    return session.backends.includes(this.backend) ? this.way(status.backend, onItsWay(status)) : this.missing()
  }

  private way(from: string, busy: boolean): TemplateResult {
    const { name, takes } = about(this.backend)
    return html`<button type="button" class="button primary" ?disabled=${busy} @click=${() => switchTo(this.backend)}>Switch to ${name} (${takes})</button>
      <p class="wants-note">Your work in ${yours(from)} is kept: it is stopped, and you can switch back at any time.</p>`
  }

  private missing(): TemplateResult {
    if (this.backend !== 'kind') return html`<p class="wants-note">This server does not offer ${about(this.backend).name}.</p>`
    return html`<p class="wants-note">No container engine was found when apilab started. Install Docker or Podman and start apilab again; <code>apilab doctor</code> says what is still missing.</p>`
  }
}
