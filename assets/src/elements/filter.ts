import { html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { Outline } from '../filter'
import { LightElement } from './base'

/** A field that narrows a page of entries as one types. */
@customElement('apilab-filter')
export class ApilabFilter extends LightElement {
  /** The id of the element whose text is narrowed. */
  @property() over = ''
  /** What its entries are called. */
  @property() things = 'entries'
  @state() private query = ''
  @state() private left = 0
  private outline?: Outline

  override render() {
    return html`<label for="filter-${this.over}">Filter</label>
      <input id="filter-${this.over}" type="search" autocomplete="off" spellcheck="false" placeholder="Word or part of one" aria-controls=${this.over} .value=${this.query} @input=${this.type} @keydown=${this.key}>
      <span class="filter-count" role="status">${this.query.trim() ? (this.left ? `${this.left} of ${this.total} ${this.things}` : `None of ${this.total} ${this.things}`) : nothing}</span>`
  }

  private get total(): number {
    return this.outline?.units.length ?? 0
  }

  private type = (event: Event): void => {
    this.narrow((event.target as HTMLInputElement).value)
  }

  private key = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.query) this.narrow('')
  }

  private narrow(query: string): void {
    const body = document.getElementById(this.over)
    if (!body) return
    this.outline ??= new Outline(body)
    this.query = query
    this.left = this.outline.narrow(query)
  }
}
