import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { keyed } from 'lit/directives/keyed.js'
import { icon } from '../icons'
import type { Row } from '../protocol/class-messages'
import type { TerminalInfo } from '../protocol/messages'
import { Session } from '../session'
import { sentence } from '../text'
import { LightElement } from './base'
import type { ApilabTerminal } from './terminal'
import './terminal'

/** Shows a learner's terminals until the instructor has seen enough. */
export async function watch(row: Row): Promise<void> {
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog watch'
  dialog.setAttribute('aria-label', `Terminals of ${row.name}`)
  const element = document.createElement('apilab-class-watch')
  element.learner = row.learner
  element.name = row.name
  dialog.append(element)
  document.body.append(dialog)
  dialog.showModal()
  await new Promise<void>((resolve) => dialog.addEventListener('close', () => resolve()))
  dialog.remove()
}

/**
 * A learner's terminals, as the learner sees them. Nothing that is typed here goes anywhere unless the learner allows it,
 * which they can end at any time.
 */
@customElement('apilab-class-watch')
export class ApilabClassWatch extends LightElement {
  @property() learner = ''
  @property() name = ''
  @state() private shown?: number
  @state() private problem = ''
  private session?: Session
  private stops: (() => void)[] = []
  /** Counts the times that typing was allowed: each is a writer of its own, so that nothing is typed that was refused before. */
  private leave = 0
  private allowed = false

  override connectedCallback(): void {
    super.connectedCallback()
    const session = new Session(
      () => new WebSocket(new URL(`/ws?learner=${encodeURIComponent(this.learner)}`, location.href.replace(/^http/, 'ws')), 'apilab.v1'),
      () => Promise.resolve(0),
      () => undefined,
    )
    this.session = session
    this.stops = (['connection', 'terminals', 'class', 'hello'] as const).map((change) => session.on(change, () => this.requestUpdate()))
    session.connect()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    for (const stop of this.stops) stop()
    this.session?.close()
  }

  override willUpdate(): void {
    const terminals = this.session?.terminals ?? []
    if (!terminals.some((t) => t.id === this.shown)) this.shown = (terminals.find((t) => t.busy) ?? terminals.at(-1))?.id
    const allowed = this.typing === 'allowed'
    if (allowed && !this.allowed) this.leave++
    this.allowed = allowed
  }

  override updated(): void {
    const info = this.info
    const terminal = this.renderRoot.querySelector<ApilabTerminal>('apilab-terminal')
    if (info?.cols && info.rows && terminal) terminal.size = { cols: info.cols, rows: info.rows }
  }

  override render() {
    const { session } = this
    const terminals = session?.terminals ?? []
    return html`<header class="watch-head">
        <h2><bdi>${this.name}</bdi></h2>
        <div class="segments" role="radiogroup" aria-label="Terminal">${terminals.map((t, i) => html`<label class="segment"><input type="radio" name="terminal" .checked=${t.id === this.shown} @change=${() => (this.shown = t.id)}><span>${t.busy && t.title ? `${i + 1} ${t.title}` : `terminal ${i + 1}`}${t.exited ? ' (ended)' : ''}</span></label>`)}</div>
        <div class="watch-acts">${this.consent()}<button type="button" class="icon-button" title="Stop watching" aria-label="Stop watching" autofocus @click=${() => this.closest('dialog')?.close()}>${icon('close')}</button></div>
      </header>
      ${this.problem ? html`<p class="form-problem" role="alert">${this.problem}</p>` : nothing}
      <div class="watch-screen" data-typing=${this.typing}>${session && this.shown !== undefined ? keyed(`${this.shown} ${this.leave}`, html`<apilab-terminal .terminal=${this.shown} .session=${session} .observing=${true} .typing=${this.allowed} .writer=${`${session.writer}${this.leave}`}></apilab-terminal>`) : html`<p class="watch-empty">${session?.connected === 'open' ? 'No terminal is open. One that the learner opens appears here.' : 'Connecting.'}</p>`}</div>`
  }

  private get info(): TerminalInfo | undefined {
    return this.session?.terminals.find((t) => t.id === this.shown)
  }

  private get typing(): 'no' | 'asked' | 'allowed' {
    return this.session?.class.observers.find((o) => o.id === this.session?.observer)?.typing ?? 'no'
  }

  private consent(): TemplateResult {
    switch (this.typing) {
      case 'no':
        return html`<span role="status">You look on.</span><button type="button" class="button" ?disabled=${this.session?.connected !== 'open'} @click=${() => this.ask(true)}>Ask to type</button>`
      case 'asked':
        return html`<span role="status">Waiting for the learner’s answer.</span><button type="button" class="button" @click=${() => this.ask(false)}>Never mind</button>`
      case 'allowed':
        return html`<span role="status" class="watch-allowed">You can type.</span><button type="button" class="button" @click=${() => this.ask(false)}>Stop typing</button>`
    }
  }

  private async ask(ask: boolean): Promise<void> {
    this.problem = ''
    try {
      await this.session?.request('observer.type', { ask })
    } catch (error) {
      this.problem = sentence(error)
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    'apilab-class-watch': ApilabClassWatch
  }
}
