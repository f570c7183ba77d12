import { html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { room } from '../class-page'
import { icon } from '../icons'
import type { Handout, Outcome } from '../protocol/class-messages'
import { LightElement } from './base'

const words: Record<Outcome['state'], string> = { waiting: 'waiting', running: 'running', done: 'done', failed: 'failed', 'left-out': 'left out' }
const order: Outcome['state'][] = ['failed', 'running', 'waiting', 'left-out', 'done']

/** What becomes of a handout, with each learner. */
@customElement('apilab-class-handout')
export class ApilabClassHandout extends LightElement {
  @property({ attribute: false }) handout?: Handout
  @property({ type: Boolean }) nameless = false
  /** The one that was dismissed, by its time. */
  @state() private read = ''

  override render() {
    const { handout } = this
    if (!handout || this.read === handout.at) return nothing
    const counts = order.map((state) => [state, handout.outcomes.filter((o) => o.state === state).length] as const).filter(([, n]) => n > 0)
    return html`<details class="handout" ?data-done=${handout.done}>
      <summary><span role="status"><b>${handout.title}</b>, handed out by ${handout.by}: ${counts.map(([state, n], i) => html`${i ? ', ' : ''}<span class="handout-count" data-state=${state}>${n} ${words[state]}</span>`)}</span></summary>
      <ul>${[...handout.outcomes].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state)).map((o) => html`<li><span class="handout-count" data-state=${o.state}>${words[o.state]}</span> <bdi>${this.nameOf(o.learner)}</bdi>${o.text ? html` <span class="handout-text">${o.text}</span>` : nothing}</li>`)}</ul>
      ${handout.done ? html`<button type="button" class="button" @click=${() => (this.read = handout.at)}>${icon('close')}Dismiss</button>` : nothing}
    </details>`
  }

  private nameOf(learner: string): string {
    const row = room.row(learner)
    return row ? (this.nameless ? `Learner ${row.seat}` : row.name) : learner
  }
}
