import { html, nothing } from 'lit'
import { customElement } from 'lit/decorators.js'
import { session } from '../page-session'
import { LightElement, Listening } from './base'
import { Clock } from './clock'

/** Says when the page is not connected, and nothing while all is well. */
@customElement('apilab-connection')
export class ApilabConnection extends LightElement {
  private since = 0

  constructor() {
    super()
    new Listening(this, session, ['connection'])
    new Clock(this, () => session.connected === 'lost')
  }

  override render() {
    const state = session.connected
    if (state === 'open') this.since = 0
    else this.since ||= Date.now()
    if (state === 'refused') {
      return html`<span class="connection refused" role="status">Signed out <a class="long" href="/">Sign in again</a></span>`
    }
    if (state !== 'lost') return nothing
    return html`<span class="connection" role="status">
      <span>Reconnecting<span class="long"> · your work is kept</span></span>
      <button type="button" @click=${() => session.hurry()}>now</button>
    </span>`
  }
}
