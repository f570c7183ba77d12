import { html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { icon } from '../icons'
import { hear } from '../page-events'
import { find, readIndex, type Entry } from '../search-index'
import { LightElement } from './base'

/** Search over lessons and exercises. The index is the home page itself, fetched when it is first wanted. */
@customElement('apilab-search')
export class ApilabSearch extends LightElement {
  @state() private query = ''
  @state() private picked = 0
  @state() private index?: Entry[]
  @state() private failed = false
  private stop?: () => void

  override connectedCallback(): void {
    super.connectedCallback()
    this.stop = hear('search', () => this.show())
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop?.()
  }

  override render() {
    const found = this.found()
    return html`<button type="button" class="icon-button" title="Search" aria-label="Search lessons and exercises" @click=${() => this.show()}>${icon('search')}</button>
      <dialog class="dialog search" aria-label="Search lessons and exercises" @click=${this.outside}>
        <input type="search" role="combobox" aria-expanded=${found.length > 0} aria-controls="search-results" aria-activedescendant=${found.length ? `result-${this.picked}` : nothing}
          aria-label="Search lessons and exercises" placeholder="Lesson, exercise or word" autocomplete="off" spellcheck="false" .value=${this.query} @input=${this.type} @keydown=${this.key}>
        ${found.length ? html`<div class="results" id="search-results" role="listbox" aria-label="Results">${found.map((entry, i) => this.result(entry, i))}</div>` : html`<p class="search-note" role="status">${this.note()}</p>`}
      </dialog>`
  }

  private result(entry: Entry, i: number): TemplateResult {
    return html`<a id="result-${i}" role="option" aria-selected=${i === this.picked} class=${i === this.picked ? 'picked' : ''} href=${entry.url} @click=${() => this.dialog?.close()}>
      ${entry.title}<small>${entry.kind === 'exercise' ? 'Exercise in ' : ''}${entry.place}${entry.done ? ' · done' : ''}</small>
    </a>`
  }

  private note(): string {
    if (this.failed) return 'The list of lessons could not be loaded. Check the connection and open the search again.'
    if (!this.index) return 'Loading'
    if (!this.query.trim()) return `${this.index.length} lessons and exercises. Type to find one.`
    return `Nothing is called “${this.query.trim()}”. Try a shorter word.`
  }

  private found(): Entry[] {
    return this.index ? find(this.index, this.query).slice(0, 12) : []
  }

  private get dialog(): HTMLDialogElement | null {
    return this.renderRoot.querySelector('dialog')
  }

  private show(): void {
    if (!this.dialog || this.dialog.open) return
    this.dialog.showModal()
    this.renderRoot.querySelector('input')?.select()
    if (!this.index) void this.load()
  }

  private async load(): Promise<void> {
    try {
      this.failed = false
      this.index = await readIndex()
    } catch {
      this.failed = true
    }
  }

  private type = (event: Event): void => {
    this.query = (event.target as HTMLInputElement).value
    this.picked = 0
  }

  private key = (event: KeyboardEvent): void => {
    const found = this.found()
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step && found.length) {
      event.preventDefault()
      this.picked = (this.picked + step + found.length) % found.length
      this.renderRoot.querySelector(`#result-${this.picked}`)?.scrollIntoView({ block: 'nearest' })
    } else if (event.key === 'Enter') {
      const entry = found[this.picked]
      if (!entry) return
      this.dialog?.close()
      location.href = entry.url
    }
  }

  private outside = (event: Event): void => {
    if (event.target === this.dialog) this.dialog?.close()
  }
}
