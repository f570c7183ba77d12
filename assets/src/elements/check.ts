import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { capital, proof, seen } from '../explain'
import type { CheckStatus } from '../protocol/messages'
import { inline } from '../text'
import { LightElement } from './base'

const words = { closed: '', waiting: 'waiting', failing: 'not yet', passing: 'passed', broken: 'check failed' } as const

/**
 * One check: a line with its state as shape, colour and word; under it why not yet, or what satisfied it. The form of an
 * answer or a choice is the server's and stays in place; the element fires `answer` (of a probe an empty one: run it again)
 * and `hint`, its card does the rest.
 */
@customElement('apilab-check')
export class ApilabCheck extends LightElement {
  @property() check = ''
  @property() kind = ''
  @property() says = ''
  @property({ reflect: true }) state: keyof typeof words = 'closed'
  @property({ attribute: false }) status?: CheckStatus
  /** The exercise is open, so that answers are taken. */
  @property({ type: Boolean }) ready = false

  override connectedCallback(): void {
    super.connectedCallback()
    this.form?.addEventListener('submit', this.submit)
    if (this.kind === 'choice') this.form?.addEventListener('change', this.submit)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.form?.removeEventListener('submit', this.submit)
    this.form?.removeEventListener('change', this.submit)
  }

  override willUpdate(changed: Map<string, unknown>): void {
    this.state = this.status?.state ?? this.state
    const before = changed.get('status') as CheckStatus | undefined
    if (before && before.state !== 'passing' && this.state === 'passing') this.tick()
  }

  override updated(changed: Map<string, unknown>): void {
    const before = changed.get('status') as CheckStatus | undefined
    if (before?.answered !== undefined && this.status?.answered === undefined) this.form?.reset()
    this.lockForm()
  }

  override render() {
    return html`<div class="check-line">
        <span class="state-mark" aria-hidden="true"></span>
        <span class="check-says">${inline(this.status?.says ?? this.says)}</span>
        <span class="check-word">${words[this.state]}</span>
      </div>
      ${this.detail()} ${this.hints()} ${this.again()}`
  }

  private get form(): HTMLFormElement | null {
    return this.querySelector('form')
  }

  /** The one motion of a card: a check that turned. */
  private tick(): void {
    this.classList.remove('turned')
    this.getBoundingClientRect() // lays out, so that the animation starts anew
    this.classList.add('turned')
  }

  private detail(): TemplateResult | typeof nothing {
    const status = this.status
    if (!status) return nothing
    switch (status.state) {
      case 'passing':
        return this.evidence(status)
      case 'broken':
        return html`<p class="check-detail">The check itself failed, which is not your doing. ${inline(capital(status.why ?? ''))}</p>`
      default:
        return status.why ? html`<p class="check-detail">${inline(capital(status.why))}${operand(status)}</p>` : nothing
    }
  }

  private evidence(status: CheckStatus): TemplateResult | typeof nothing {
    const by = status.by && proof(status.kind, status.by)
    if (!by) return nothing
    return html`<p class="check-detail evidence">${by.text ? inline(by.text) : nothing}${by.code ? html`<code>${by.code}</code>` : nothing}${by.after}${by.version ? html` <span class="rv">rv ${by.version}</span>` : nothing}</p>`
  }

  private hints(): TemplateResult | typeof nothing {
    const status = this.status
    if (!status || status.state === 'passing') return nothing
    const told = status.hints ?? []
    const more = status.hintsLeft > 0 && status.state === 'failing'
    return html`${told.length ? html`<ol class="hints">${told.map((hint) => html`<li>${inline(hint)}</li>`)}</ol>` : nothing}
    ${more ? html`<div class="check-tools"><button type="button" class="button quiet" ?disabled=${!this.ready} @click=${this.askHint}>${told.length ? 'Another hint' : 'Hint'}<span class="visually-hidden"> for: ${this.says}</span></button></div>` : nothing}`
  }

  /** A probe that failed is run again by itself when its objects change; what else mattered only the learner knows. */
  private again(): TemplateResult | typeof nothing {
    if (this.kind !== 'probe' || (this.state !== 'failing' && this.state !== 'broken')) return nothing
    return html`<div class="check-tools"><button type="button" class="button quiet" ?disabled=${!this.ready} @click=${this.askAgain}>Try again<span class="visually-hidden">: ${this.says}</span></button></div>`
  }

  /** Takes answers while the exercise is open and the check does not pass. */
  private lockForm(): void {
    const form = this.form
    if (!form) return
    const open = this.ready && this.state !== 'passing' && !(this.state === 'waiting' && this.status)
    for (const control of form.querySelectorAll<HTMLInputElement | HTMLButtonElement>('input, button')) {
      control.disabled = !open
      if (!(control instanceof HTMLInputElement) || this.status?.answered === undefined) continue
      if (control.type === 'radio') control.checked ||= control.value === this.status.answered
      else if (document.activeElement !== control && control.value === '') control.value = this.status.answered
    }
  }

  private submit = (event: Event): void => {
    event.preventDefault()
    if (!this.form) return
    const value = new FormData(this.form).get('value')
    if (typeof value !== 'string' || value.trim() === '') return
    this.dispatchEvent(new CustomEvent('answer', { bubbles: true, detail: { check: this.check, value: value.trim() } }))
  }

  private askAgain = (): void => {
    this.dispatchEvent(new CustomEvent('answer', { bubbles: true, detail: { check: this.check, value: '' } }))
  }

  private askHint = (): void => {
    this.dispatchEvent(new CustomEvent('hint', { bubbles: true, detail: { check: this.check } }))
  }
}

function operand(status: CheckStatus): TemplateResult | typeof nothing {
  const decided = seen(status)
  return decided ? html` <span class="seen"><code>${decided.field}</code> is <code>${decided.saw}</code></span>` : nothing
}
