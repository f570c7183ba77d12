import { html, nothing } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { announce } from '../announce'
import { icon } from '../icons'
import { session } from '../page-session'
import { sentence } from '../text'
import { LightElement, Listening } from './base'

/** The learner's hand in the top bar: raised, the instructor sees it. Nothing for who is in no class. */
@customElement('apilab-hand')
export class ApilabHand extends LightElement {
  @state() private busy = false

  constructor() {
    super()
    new Listening(this, session, ['class', 'connection'])
  }

  override render() {
    const { member, handAt } = session.class
    if (!member) return nothing
    const up = handAt !== undefined
    return html`<button type="button" class="hand" aria-pressed=${up} ?disabled=${this.busy || session.connected !== 'open'} title=${up ? 'Your instructor sees that you want help' : 'Ask your instructor for help'} @click=${() => this.raise(!up)}>
      ${icon('hand')}<span>${up ? 'Hand is up' : 'Raise hand'}</span>
    </button>`
  }

  private async raise(up: boolean): Promise<void> {
    this.busy = true
    try {
      await session.request('hand', { up })
      announce(up ? 'Your hand is up' : 'Your hand is down')
    } catch (error) {
      session.notify('error', `Your hand was not moved. ${sentence(error)}`)
    } finally {
      this.busy = false
    }
  }
}
