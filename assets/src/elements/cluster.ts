import { html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { announce } from '../announce'
import { about, yours } from '../backends'
import { copy } from '../clipboard'
import { reset, revokeKubeconfig, switchTo } from '../cluster-actions'
import { facts, title, words } from '../cluster-words'
import { icon } from '../icons'
import { session } from '../page-session'
import type { ClusterState, ClusterStatus, Usage } from '../protocol/messages'
import { bytes, seconds, sentence } from '../text'
import { LightElement, Listening } from './base'
import { Clock } from './clock'
import { offers } from './offers'
import { elapsed, onItsWay, phaseList, running } from './phases'
import './version'

/** The cluster in the top bar: its state at a glance, and a menu with what can be done. */
@customElement('apilab-cluster')
export class ApilabCluster extends LightElement {
  @state() private open = false
  @state() private usage?: Usage
  @state() private message = ''
  private announced?: ClusterState

  constructor() {
    super()
    new Listening(this, session, ['cluster', 'connection'])
    new Clock(this, () => session.connected === 'open' && onItsWay(session.cluster))
  }

  override connectedCallback(): void {
    super.connectedCallback()
    document.addEventListener('pointerdown', this.dismiss)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    document.removeEventListener('pointerdown', this.dismiss)
  }

  override updated(): void {
    const now = session.cluster?.state
    if (now && now !== this.announced) {
      if (this.announced) announce(`Cluster ${words[now]}`)
      this.announced = now
    }
  }

  override render() {
    const status = session.cluster
    const known = session.connected === 'open' && status
    return html`<div class="cluster" @keydown=${this.key} @focusout=${this.blurred}>
      <button type="button" class="cluster-chip" data-state=${known ? status.state : 'unknown'} aria-expanded=${this.open} aria-controls="cluster-menu" @click=${this.toggle}>
        <span class="lamp" aria-hidden="true"></span>${known ? this.glance(status) : html`<span><span class="visually-hidden">Cluster </span>${session.connected === 'connecting' ? 'connecting' : 'unknown'}</span>`}
      </button>
      ${this.open ? this.menu(status) : nothing}
    </div>`
  }

  private glance(status: ClusterStatus): TemplateResult {
    const word = html`<span class="cluster-word"><span class="visually-hidden">Cluster </span>${words[status.state]}</span>`
    if (status.state === 'ready') return html`${word}<apilab-version></apilab-version>`
    if (!onItsWay(status)) return word
    const phase = running(status)
    return html`${word}${phase ? html`<span class="phase-now">${phase.says}</span>` : nothing}<span class="phase-time">${elapsed(status, Date.now())}</span>`
  }

  private menu(status: ClusterStatus | undefined): TemplateResult {
    if (!status) return html`<div class="cluster-menu" id="cluster-menu" role="group" aria-label="Cluster"><h2>Nothing is known of your cluster yet</h2></div>`
    const { state } = status
    return html`<div class="cluster-menu" id="cluster-menu" role="group" aria-label="Cluster">
      <h2>${title(status)}</h2>
      <p class="menu-line">${facts(status)}</p>
      ${status.reason ? html`<pre class="reason" tabindex="0">${status.reason}</pre>` : nothing}
      ${onItsWay(status) ? phaseList(status, Date.now()) : nothing}
      ${this.usage && state === 'ready' ? this.costs(this.usage) : nothing}
      ${this.message ? html`<p class="menu-line" role="status">${this.message}</p>` : nothing}
      <div class="menu-actions">
        ${offers(status, (r) => r.does !== 'switch')}
        <button type="button" class="button" @click=${this.copyKubeconfig}>${icon('copy')}Copy kubeconfig</button>
        <a class="button" href="/kubeconfig" download="apilab.kubeconfig">Download</a>
        <button type="button" class="button" @click=${this.revokeKubeconfig}>Revoke kubeconfig</button>
        ${state === 'absent' || state === 'failed' ? nothing : html`<button type="button" class="button danger" @click=${() => this.reset(status)}>Reset cluster</button>`}
      </div>
      ${session.backends.filter((backend) => backend !== status.backend).map((backend) => this.other(backend, status))}
    </div>`
  }

  /** Another kind of cluster to switch to, and what becomes of this one. */
  private other(backend: string, status: ClusterStatus): TemplateResult {
    const { name, takes, has } = about(backend)
    return html`<div class="menu-other">
      <p class="menu-line">${has}. The switch takes ${takes}; ${yours(status.backend)} is stopped and keeps its data.</p>
      <button type="button" class="button" ?disabled=${status.state === 'deleting'} @click=${() => this.switchTo(backend)}>Switch to ${name}</button>
    </div>`
  }

  private costs(usage: Usage): TemplateResult {
    return html`<dl class="usage">
      <dt>Memory of its own</dt><dd>${bytes(usage.privateBytes)}</dd>
      <dt>Processor time</dt><dd>${seconds(usage.cpu)}</dd>
      <dt>On disk</dt><dd>${bytes(usage.diskBytes)}</dd>
    </dl>`
  }

  private toggle = (): void => {
    this.open = !this.open
    this.message = ''
    if (!this.open) return
    session.request('cluster.usage', {}).then(
      (usage) => (this.usage = usage),
      () => (this.usage = undefined),
    )
  }

  private close(): void {
    this.open = false
    this.renderRoot.querySelector<HTMLElement>('.cluster-chip')?.focus()
  }

  private dismiss = (event: Event): void => {
    if (this.open && !this.contains(event.target as Node)) this.open = false
  }

  private key = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.open) {
      event.stopPropagation()
      this.close()
    }
  }

  private blurred = (event: FocusEvent): void => {
    if (event.relatedTarget && !this.contains(event.relatedTarget as Node)) this.open = false
  }

  private copyKubeconfig = async (): Promise<void> => {
    try {
      const { text } = await session.request('kubeconfig', {})
      this.message = (await copy(text)) ? 'Copied. Save it to a file and point KUBECONFIG at it.' : 'The browser did not allow copying. Use Download.'
    } catch (error) {
      this.message = sentence(error)
    }
  }

  private revokeKubeconfig = (): void => {
    this.open = false
    void revokeKubeconfig()
  }

  private reset(status: ClusterStatus): void {
    this.open = false
    void reset(status)
  }

  private switchTo(backend: string): void {
    this.close()
    void switchTo(backend)
  }
}
