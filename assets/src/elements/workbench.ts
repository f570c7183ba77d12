import { html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { repeat } from 'lit/directives/repeat.js'
import { announce } from '../announce'
import { copy } from '../clipboard'
import { title, wentBack } from '../cluster-words'
import { icon } from '../icons'
import { hear, type PageEvents } from '../page-events'
import { session } from '../page-session'
import { screenReaderMode } from '../preferences'
import type { EditorRequest, TerminalInfo } from '../protocol/messages'
import { sentence } from '../text'
import { LightElement, Listening } from './base'
import { Clock } from './clock'
import { offers } from './offers'
import { onItsWay, phaseList } from './phases'
import type { ApilabTerminal } from './terminal'
import './files'
import './page-editor'

/** A terminal by its number, a program's editor by its token, or the files. */
type Pane = number | string

const files = 'files'

/** Where the browser's tab keeps which pane is in front, over reloads and from lesson to lesson. */
const place = 'apilab-pane'

function remembered(): Pane | undefined {
  try {
    const pane = sessionStorage.getItem(place)
    return pane === null || pane === files ? (pane ?? undefined) : Number(pane)
  } catch {
    return undefined // the browser keeps nothing for this page
  }
}

/** An editor is not remembered: what was in front before it comes back. */
function remember(pane: Pane | undefined): void {
  if (typeof pane !== 'number' && pane !== files) return
  try {
    sessionStorage.setItem(place, String(pane))
  } catch {
    // as above
  }
}

/** The workbench beside the text: terminals as tabs, the files, and the editor that a program asks for. */
@customElement('apilab-workbench')
export class ApilabWorkbench extends LightElement {
  @state() private shown?: Pane
  @state() private opened = false
  @state() private problem = ''
  @state() private loaded = false
  @state() private busyOpening = false
  /** Why a switch failed, as far as the learner has read it. */
  @state() private read?: string
  private edits = new Set<string>()
  private stops: (() => void)[] = []
  private narrow = matchMedia('(max-width: 899px)')

  constructor() {
    super()
    new Listening(this, session, ['terminals', 'editors', 'cluster', 'connection'])
    new Clock(this, () => session.connected === 'open' && onItsWay(session.cluster))
  }

  override connectedCallback(): void {
    super.connectedCallback()
    this.stops = [
      hear('run', (detail) => void this.run(detail)),
      hear('workbench', ({ focus }) => this.reveal(focus)),
      session.on('hello', () => this.begin()),
      session.on('cluster', () => {
        // What was refused while the cluster was on its way is worth another try.
        if (session.ready && this.problem && session.terminals.length === 0) void this.open(false)
      }),
    ]
    document.addEventListener('keydown', this.shortcut)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    for (const stop of this.stops) stop()
    document.removeEventListener('keydown', this.shortcut)
  }

  override willUpdate(): void {
    for (const edit of session.editors) {
      if (this.edits.has(edit.token)) continue
      this.edits.add(edit.token)
      this.shown = edit.token
      this.opened = true
      announce(`${edit.name} is open in the editor`)
    }
    if (!this.exists(this.shown)) this.shown = this.exists(remembered()) ? remembered() : session.terminals[0]?.id
    this.classList.toggle('open', this.opened)
  }

  override updated(changed: Map<string, unknown>): void {
    if (changed.has('shown')) remember(this.shown)
  }

  override render() {
    return html`<button type="button" class="bench-handle" aria-expanded=${this.opened} @click=${this.slide}>${icon('terminal')}Terminal${session.terminals.some((t) => t.busy) ? html`<span class="busy" title="A command is running"></span>` : nothing}<span class="chevron">${icon('chevron')}</span></button>
      <div class="bench-tabs">
        <div class="tabs" role="tablist" aria-label="Workbench" @keydown=${this.walk}>
          ${repeat(session.terminals, (t) => t.id, (t) => this.terminalTab(t))}
          ${repeat(session.editors, (e) => e.token, (e) => this.tab(e.token, html`<span class="attention">edit</span> ${e.name}`))}
          ${this.tab(files, html`Files`)}
        </div>
        <button type="button" class="icon-button" title="New terminal" aria-label="New terminal" ?disabled=${session.connected !== 'open'} @click=${() => this.open(true)}>${icon('plus')}</button>
        ${typeof this.shown === 'number' && session.terminals.length ? this.tools() : nothing}
      </div>
      <div class="bench-panes">
        ${this.loaded ? repeat(session.terminals, (t) => t.id, (t) => this.terminalPane(t)) : nothing}
        ${repeat(session.editors, (e) => e.token, (e) => this.editorPane(e))}
        <div class="pane" role="tabpanel" id="pane-files" aria-labelledby="tab-files" ?hidden=${this.shown !== files}><apilab-files ?active=${this.shown === files}></apilab-files></div>
        ${this.shown === undefined ? html`<div class="pane">${this.empty()}</div>` : nothing}
        ${this.strip()}
      </div>`
  }

  private terminalTab(info: TerminalInfo): TemplateResult {
    const title = nameOf(info)
    return this.tab(
      info.id,
      html`${info.busy ? html`<span class="busy" title="A command is running"></span>` : nothing}${title}${info.exited ? ' (ended)' : ''}`,
      session.terminals.length > 1 || info.exited
        ? html`<button type="button" class="icon-button" tabindex=${this.shown === info.id ? 0 : -1} title="Close ${title}" aria-label="Close ${title}" @click=${() => this.close(info)}>${icon('close')}</button>`
        : nothing,
    )
  }

  private tab(pane: Pane, label: TemplateResult, beside: TemplateResult | typeof nothing = nothing): TemplateResult {
    const selected = this.shown === pane
    return html`<span class="tab" role="presentation"><button type="button" role="tab" id="tab-${pane}" aria-controls="pane-${pane}" aria-selected=${selected} tabindex=${selected ? 0 : -1} @click=${() => this.show(pane)}>${label}</button>${beside}</span>`
  }

  private tools(): TemplateResult {
    const reader = screenReaderMode.on
    return html`<div class="bench-tools" role="group" aria-label="Terminal">
      <button type="button" class="icon-button" title="Copy the selection" aria-label="Copy the selection" @click=${this.copy}>${icon('copy')}</button>
      <button type="button" class="icon-button" title="Paste" aria-label="Paste into the terminal" @click=${this.paste}>${icon('paste')}</button>
      <button type="button" class="button quiet" aria-pressed=${reader} title="Screen-reader mode of the terminal" @click=${this.toggleReader}>${icon('speech')}<span class="tool-word">Screen reader${reader ? ' on' : ''}</span></button>
    </div>`
  }

  private terminalPane(info: TerminalInfo): TemplateResult {
    return html`<div class="pane" role="tabpanel" id="pane-${info.id}" aria-labelledby="tab-${info.id}" ?hidden=${this.shown !== info.id}>
      <apilab-terminal .terminal=${info.id}></apilab-terminal>
      ${info.exited ? html`<p class="terminal-note">This shell has ended; what it printed stays. <button type="button" class="button" @click=${() => this.open(true)}>New terminal</button></p>` : nothing}
    </div>`
  }

  private editorPane(edit: EditorRequest): TemplateResult {
    return html`<div class="pane" role="tabpanel" id="pane-${edit.token}" aria-labelledby="tab-${edit.token}" ?hidden=${this.shown !== edit.token}><apilab-page-editor .request=${edit}></apilab-page-editor></div>`
  }

  /** What stands in the workbench before there is a terminal. */
  private empty(): TemplateResult {
    if (session.connected === 'refused') {
      return html`<div class="bench-empty"><h2>You are signed out</h2><p>apilab answers, but does not let this browser in any more. Your cluster and your files are kept. <a href=${location.pathname}>Load this page again</a>: it says how to come back.</p></div>`
    }
    if (session.connected !== 'open') {
      return html`<div class="bench-empty"><h2>${session.connected === 'lost' ? 'Not connected' : 'Connecting'}</h2><p>${session.connected === 'lost' ? 'apilab does not answer. The text stays readable, and the terminal comes back by itself when apilab does.' : 'The terminal opens in a moment.'}</p></div>`
    }
    if (this.problem) {
      return html`<div class="bench-empty"><h2>No terminal was opened</h2><p>${this.problem}</p><button type="button" class="button primary" @click=${() => this.open(true)}>Try again</button></div>`
    }
    if (this.busyOpening) return html`<div class="bench-empty"><h2>Opening a terminal</h2></div>`
    return html`<div class="bench-empty"><h2>No terminal is open</h2><p>Your files and your cluster are as you left them.</p><button type="button" class="button primary" @click=${() => this.open(true)}>New terminal</button></div>`
  }

  /** Over the terminal while the cluster cannot be used: its start, or why it failed. */
  private strip(): TemplateResult | typeof nothing {
    const status = session.cluster
    if (session.connected !== 'open' || !status) return nothing
    if (wentBack(status)) {
      if (this.read === status.reason) return nothing
      return html`<div class="bench-strip failed" role="alert">
        <h2>${title(status)}: the other one did not start</h2><pre class="reason" tabindex="0">${status.reason}</pre>
        <div class="strip-actions">${offers(status)}<button type="button" class="button" @click=${() => (this.read = status.reason)}>Go on here</button></div>
      </div>`
    }
    if (status.state === 'failed') {
      return html`<div class="bench-strip failed" role="alert">
        <h2>${title(status)}</h2><pre class="reason" tabindex="0">${status.reason}</pre>
        <p>Your files and your progress are kept. Try again first: what is in the cluster is lost only if you make it anew.</p>
        <div class="strip-actions">${offers(status)}</div>
      </div>`
    }
    if (status.state === 'ready' || status.state === 'frozen') return nothing
    return html`<div class="bench-strip"><h2>${title(status)}</h2>${status.reason ? html`<p class="why">${status.reason}</p>` : nothing}${phaseList(status, Date.now())}<div class="strip-actions">${offers(status)}</div></div>`
  }

  private exists(pane: Pane | undefined): boolean {
    return pane === files || session.terminals.some((t) => t.id === pane) || session.editors.some((e) => e.token === pane)
  }

  /** xterm.js, which is loaded after the text has been drawn, with its face. */
  private readonly code = Promise.all([import('./terminal'), document.fonts.load('14px "Source Code Pro Variable"').catch(() => [])]).then(([code]) => {
    this.loaded = true
    return code
  })

  private begin(): void {
    if (session.terminals.length === 0) void this.open(false)
    const state = session.cluster?.state
    if (state === 'absent' || state === 'stopped') void this.startCluster()
  }

  private startCluster = async (): Promise<void> => {
    try {
      await session.request('cluster.start', {})
    } catch {
      // The cluster's own status says what failed.
    }
  }

  private async open(focus: boolean): Promise<ApilabTerminal | undefined> {
    if (this.busyOpening) return undefined
    this.busyOpening = true
    this.problem = ''
    try {
      const { sizeIn } = await this.code
      const panes = this.renderRoot.querySelector<HTMLElement>('.bench-panes')
      const { terminal } = await session.request('term.open', panes ? sizeIn(panes) : { cols: 80, rows: 24 })
      await this.arrival(terminal)
      this.shown = terminal
      await this.updateComplete
      const element = await this.element(terminal)
      if (focus) element?.focus()
      return element
    } catch (error) {
      this.problem = sentence(error)
      if (session.terminals.length > 0) session.notify('error', `No terminal was opened. ${this.problem}`)
      return undefined
    } finally {
      this.busyOpening = false
    }
  }

  /** The list with a new terminal may come after the reply that names it. */
  private arrival(terminal: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!session.terminals.some((t) => t.id === terminal)) return
        stop()
        resolve()
      }
      const stop = session.on('terminals', look)
      look()
    })
  }

  private async element(terminal: number): Promise<ApilabTerminal | undefined> {
    await this.code
    await this.updateComplete
    return this.renderRoot.querySelector<ApilabTerminal>(`#pane-${terminal} apilab-terminal`) ?? undefined
  }

  private async close(info: TerminalInfo): Promise<void> {
    try {
      await session.request('term.close', { terminal: info.id })
    } catch (error) {
      session.notify('error', sentence(error))
    }
  }

  /** Types into the terminal at the wanted place or in front, or into one that is not busy; opens what is missing. */
  private async run({ text, place, done }: PageEvents['run']): Promise<void> {
    this.opened = true
    const element = await this.forRun(place)
    if (!element) return
    this.shown = element.terminal
    await this.updateComplete
    if (!this.narrow.matches) element.focus()
    await element.run(text)
    const info = session.terminals.find((t) => t.id === element.terminal)
    done(info ? nameOf(info) : 'the terminal')
  }

  private async forRun(place: number | undefined): Promise<ApilabTerminal | undefined> {
    const living = session.terminals.filter((t) => !t.exited)
    if (place !== undefined) {
      // One that does not exist yet comes at its place; whoever asks for the third gets the next.
      const there = living[place - 1]
      return there ? this.element(there.id) : this.open(false)
    }
    const free = living.filter((t) => !t.busy)
    const target = free.find((t) => t.id === this.shown) ?? free[0]
    return target ? this.element(target.id) : this.open(false)
  }

  private show(pane: Pane): void {
    this.shown = pane
    if (typeof pane === 'number') void this.element(pane).then((element) => element?.focus())
  }

  private reveal(focus: boolean): void {
    this.opened = true
    if (focus && typeof this.shown === 'number') void this.element(this.shown).then((element) => element?.focus())
  }

  private slide = (): void => {
    this.opened = !this.opened
  }

  private get front(): ApilabTerminal | null {
    return this.renderRoot.querySelector<ApilabTerminal>(`#pane-${this.shown} apilab-terminal`)
  }

  private copy = async (): Promise<void> => {
    const text = this.front?.selection
    if (!text) session.notify('info', 'Nothing is selected. Drag over the text in the terminal first.')
    else announce((await copy(text)) ? 'Copied' : 'The browser did not allow copying')
    this.front?.focus()
  }

  private paste = async (): Promise<void> => {
    try {
      this.front?.paste(await navigator.clipboard.readText())
    } catch {
      session.notify('info', 'The browser does not let the page read the clipboard. Click into the terminal and paste with the keyboard.')
    }
  }

  private toggleReader = (): void => {
    screenReaderMode.on = !screenReaderMode.on
    for (const terminal of this.renderRoot.querySelectorAll<ApilabTerminal>('apilab-terminal')) terminal.screenReader = screenReaderMode.on
    announce(screenReaderMode.on ? 'Screen-reader mode of the terminal is on' : 'Screen-reader mode of the terminal is off')
    this.requestUpdate()
  }

  private walk = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const panes: Pane[] = [...session.terminals.map((t) => t.id), ...session.editors.map((e) => e.token), files]
    const to = panes[(panes.findIndex((pane) => pane === this.shown) + step + panes.length) % panes.length]
    if (to === undefined) return
    this.shown = to
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`#tab-${CSS.escape(String(to))}`)?.focus())
  }

  private shortcut = (event: KeyboardEvent): void => {
    const backtick = event.ctrlKey && event.code === 'Backquote'
    if (event.key !== 'F6' && !backtick) return
    event.preventDefault()
    if (backtick && event.shiftKey) void this.open(true)
    else if (this.contains(document.activeElement)) document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
    else if (this.front) this.reveal(true)
    else this.renderRoot.querySelector<HTMLElement>('[role=tab][aria-selected=true]')?.focus()
  }
}

/** Terminals are called by their place, and by the command that runs; their numbers mean something to the server only. */
function nameOf(info: TerminalInfo): string {
  const place = session.terminals.findIndex((t) => t.id === info.id) + 1
  return info.busy && info.title !== '' ? `${place} ${info.title}` : `terminal ${place}`
}
