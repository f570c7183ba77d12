import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import type { CheckStatus, Evidence } from '../protocol/messages'
import { capital, inline } from '../text'
import { LightElement } from './base'

const words = { closed: '', waiting: 'waiting', failing: 'not yet', passing: 'passed', broken: 'check failed' } as const

/**
 * One check: a line with its state as shape, colour and word; under it why not yet, or what satisfied it. The form of an
 * answer or a choice is the server's and stays in place; the element fires `answer` and `hint`, its card does the rest.
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
      ${this.detail()} ${this.hints()}`
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
        return status.by ? html`<p class="check-detail evidence">${evidence(status.by)}</p>` : nothing
      case 'broken':
        return html`<p class="check-detail">The check itself failed, which is not your doing. ${inline(capital(status.why ?? ''))}</p>`
      default:
        return status.why ? html`<p class="check-detail">${inline(capital(status.why))}${seen(status)}</p>` : nothing
    }
  }

  private hints(): TemplateResult | typeof nothing {
    const status = this.status
    if (!status || status.state === 'passing') return nothing
    const told = status.hints ?? []
    const more = status.hintsLeft > 0 && status.state === 'failing'
    return html`${told.length ? html`<ol class="hints">${told.map((hint) => html`<li>${inline(hint)}</li>`)}</ol>` : nothing}
    ${more ? html`<div class="check-tools"><button type="button" class="button quiet" ?disabled=${!this.ready} @click=${this.askHint}>${told.length ? 'Another hint' : 'Hint'}<span class="visually-hidden"> for: ${this.says}</span></button></div>` : nothing}`
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

  private askHint = (): void => {
    this.dispatchEvent(new CustomEvent('hint', { bubbles: true, detail: { check: this.check } }))
  }
}

/** The operands that decided, unless the sentence has them already. */
function seen(status: CheckStatus): TemplateResult | typeof nothing {
  if (!status.field || status.saw === undefined) return nothing
  if (status.why?.includes(status.saw) && status.why.includes(status.field)) return nothing
  return html` <span class="seen"><code>${status.field}</code> is <code>${status.saw || '""'}</code></span>`
}

function evidence(by: Evidence): TemplateResult {
  const object = by.name ? `${by.resource ?? ''} ${by.name}`.trim() : by.resource
  return html`${by.text ? inline(by.text) : nothing}
  ${by.request ? html` <code>${by.request}</code>` : nothing}
  ${object ? html` <code>${object}</code>${by.namespace ? html` in <code>${by.namespace}</code>` : nothing}` : nothing}
  ${by.resourceVersion ? html` <span class="rv">rv ${by.resourceVersion}</span>` : nothing}`
}
