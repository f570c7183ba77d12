import { html, nothing, type TemplateResult } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { icon } from '../icons'
import { hear } from '../page-events'
import type { Entry, Hit, Part, SearchIndex } from '../search-index'
import { LightElement } from './base'

const label = 'Search lessons, exercises and terms'

/** Search over all there is to read. The index is fetched when it is first wanted; from then on no network is needed. */
@customElement('apilab-search')
export class ApilabSearch extends LightElement {
  @state() private query = ''
  @state() private picked = 0
  @state() private index?: SearchIndex
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
    return html`<button type="button" class="icon-button" title="Search" aria-label=${label} aria-keyshortcuts="/" @click=${() => this.show()}>${icon('search')}</button>
      <dialog class="dialog search" aria-label=${label} @click=${this.outside}>
        <input type="search" role="combobox" aria-expanded=${found.length > 0} aria-controls="search-results" aria-autocomplete="list" aria-activedescendant=${found.length ? `result-${this.picked}` : nothing}
          aria-label=${label} placeholder="Lesson, exercise, term or word" autocomplete="off" spellcheck="false" .value=${this.query} @input=${this.type} @keydown=${this.key}>
        <div class="results" id="search-results" role="listbox" aria-label="Results" ?hidden=${found.length === 0}>${found.map((hit, i) => this.result(hit, i))}</div>
        <p class=${found.length ? 'visually-hidden' : 'search-note'} role="status">${found.length ? `${found.length} ${found.length === 1 ? 'result' : 'results'}` : this.note()}</p>
      </dialog>`
  }

  private result({ entry, title, excerpt }: Hit, i: number): TemplateResult {
    return html`<a id="result-${i}" role="option" tabindex="-1" aria-selected=${i === this.picked} class=${i === this.picked ? 'picked' : ''} href=${entry.url} @click=${() => this.dialog?.close()}>
      <span class="result-title">${marked(title)}</span>${entry.real ? html` <span class="badge">real nodes</span>` : nothing}<small class="result-place">${place(entry)}</small>
      ${excerpt.length ? html`<small class="result-excerpt">${marked(excerpt)}</small>` : nothing}
    </a>`
  }

  private note(): string {
    if (this.failed) return 'The list of what can be found could not be loaded. Check the connection and open the search again.'
    if (!this.index) return 'Loading'
    if (!this.query.trim()) return 'Type a word, or a part of one. It is looked for in lessons, exercises, the glossary and reference pages.'
    return `Nothing has “${this.query.trim()}” in it. Try a shorter word.`
  }

  private found(): Hit[] {
    return this.index?.find(this.query) ?? []
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
      const { loadIndex } = await import('../search-index') // most pages are read without a search
      this.index = await loadIndex()
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
      const hit = found[this.picked]
      if (!hit) return
      event.preventDefault()
      this.dialog?.close()
      location.href = hit.entry.url
    } else if (event.key === 'Escape') {
      // A search field keeps Escape for itself while there is text in it; here it closes at once.
      event.preventDefault()
      this.dialog?.close()
    }
  }

  private outside = (event: Event): void => {
    if (event.target === this.dialog) this.dialog?.close()
  }
}

function marked(parts: Part[]): (string | TemplateResult)[] {
  return parts.map((part) => (part.hit ? html`<mark>${part.text}</mark>` : part.text))
}

function place({ kind, place = '' }: Entry): string {
  switch (kind) {
    case 'exercise':
      return `Exercise in ${place}`
    case 'lesson':
      return `Lesson · ${place}`
    case 'reference':
      return `Reference · ${place}`
    case 'track':
      return 'Track'
    default:
      return place
  }
}
