import { html, nothing, type PropertyValues, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { repeat } from 'lit/directives/repeat.js'
import { blocks, brief, byExercise, idle, level, patience, sentence, span, stuck } from '../class-rows'
import { icon } from '../icons'
import type { Cell, ClassLesson, Column, Row } from '../protocol/class-messages'
import { LightElement } from './base'
import { legend } from './class-legend'

/** What a row needs beside its cells, and a cell, in px: as many blocks stand side by side as have room. */
const rowWidth = 220
const cellWidth = 19
const widestCell = 32
const gap = 20

/**
 * Learners by checks. A cell says by shape, colour and, the longer a learner is stuck, by heat how they stand with it. Long
 * classes stand in blocks side by side. The arrow keys walk over cells and rows, Enter opens the learner.
 */
@customElement('apilab-class-grid')
export class ApilabClassGrid extends LightElement {
  @property({ attribute: false }) rows: Row[] = []
  @property({ attribute: false }) columns: Column[] = []
  @property({ attribute: false }) lesson?: ClassLesson
  @property({ attribute: false }) now = 0
  @property() selected = ''
  @property({ type: Boolean }) nameless = false
  @state() private count = 1
  /** Width of a cell, in px: what a block has to spare makes room for the titles of exercises. */
  @state() private cellSize = cellWidth
  /** Where the keyboard is: a learner, and a column from 0; -1 is the name. */
  private place = { learner: '', column: -1 }
  private observer?: ResizeObserver

  override connectedCallback(): void {
    super.connectedCallback()
    this.observer = new ResizeObserver(() => this.fit())
    this.observer.observe(this)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.observer?.disconnect()
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has('columns')) this.fit()
    if (!this.rows.some((row) => row.learner === this.place.learner)) this.place = { learner: this.rows[0]?.learner ?? '', column: -1 }
  }

  override render() {
    return html`<div class="grid-blocks" style="--cell: ${this.cellSize}px" @keydown=${this.key} @focusin=${this.focused}>${blocks(this.rows, this.count).map((rows, i) => this.block(rows, i))}</div>
      ${this.columns.length === 0 ? html`<p class="grid-note">This lesson has no exercises. Choose another one above to see checks.</p>` : legend()}`
  }

  private block(rows: Row[], i: number): TemplateResult {
    const groups = byExercise(this.columns)
    return html`<table class="grid" role="grid" aria-label="Learners and checks${this.count > 1 ? `, part ${i + 1}` : ''}">
      <colgroup><col class="col-name"><col class="col-signs">${this.columns.map(() => html`<col class="col-check">`)}</colgroup>
      <thead>
        <tr class="grid-exercises"><th scope="col" rowspan="2">Learner</th><th scope="col" rowspan="2"><span class="visually-hidden">Signs</span></th>${groups.map((group) => html`<th scope="colgroup" colspan=${group.columns.length} title=${group.title}><span>${group.title}</span></th>`)}</tr>
        <tr>${this.columns.map((column, n) => html`<th scope="col" class="number ${groups.some((g) => g.first === n) ? 'first' : ''}" title=${column.says}>${n + 1}<span class="visually-hidden"> ${column.says}</span></th>`)}</tr>
      </thead>
      <tbody>${repeat(rows, (row) => row.learner, (row) => this.row(row, groups.map((g) => g.first)))}</tbody>
    </table>`
  }

  private row(row: Row, firsts: number[]): TemplateResult {
    const name = this.nameless ? `Learner ${row.seat}` : row.name
    return html`<tr data-learner=${row.learner} class=${row.pages === 0 ? 'away' : ''} aria-selected=${row.learner === this.selected}>
      <th scope="row"><button type="button" tabindex=${this.tab(row, -1)} @click=${() => this.select(row)}><bdi>${name}</bdi></button></th>
      <td class="signs">${this.signs(row)}</td>
      ${row.cells.map((cell, n) => this.cell(row, name, cell, n, firsts.includes(n)))}
    </tr>`
  }

  private cell(row: Row, name: string, cell: Cell, n: number, first: boolean): TemplateResult {
    const says = sentence(cell, this.now)
    return html`<td role="gridcell" class="cell ${first ? 'first' : ''}" data-state=${cell.state} data-level=${level(cell, this.now)} ?data-tried=${cell.since !== undefined} tabindex=${this.tab(row, n)} title="${n + 1} ${this.columns[n]?.says ?? ''}: ${says}${cell.why ? `. ${cell.why}` : ''}" aria-label="${name}, check ${n + 1}: ${says}" @click=${() => this.select(row)}></td>`
  }

  /** What calls for the instructor, the most pressing first. */
  private signs(row: Row): TemplateResult {
    const doesNothing = idle(row, this.now)
    const isStuck = stuck(row, this.now)
    return html`${row.handAt ? html`<span class="sign hand-up" title="Hand up for ${span(this.now - Date.parse(row.handAt))}">${icon('hand')}<span class="visually-hidden">hand up </span>${brief(this.now - Date.parse(row.handAt))}</span>` : nothing}
    ${row.cluster === 'failed' ? html`<span class="sign failed" title="The cluster does not run">cluster</span>` : nothing}
    ${row.pages === 0 ? html`<span class="sign faint">away</span>` : doesNothing >= patience ? html`<span class="sign faint" title="Has done nothing for ${span(doesNothing)}">idle ${brief(doesNothing)}</span>` : nothing}
    ${isStuck >= patience && row.pages > 0 ? html`<span class="sign stuck" title="Has not got on for ${span(isStuck)}"><span class="visually-hidden">stuck for </span>${brief(isStuck)}</span>` : nothing}`
  }

  private tab(row: Row, column: number): number {
    return row.learner === this.place.learner && column === this.place.column ? 0 : -1
  }

  private select(row: Row): void {
    this.dispatchEvent(new CustomEvent('select', { detail: row.learner, bubbles: true }))
  }

  private fit(): void {
    const needs = rowWidth + this.columns.length * cellWidth
    this.count = Math.min(3, Math.max(1, Math.floor((this.clientWidth + gap) / (needs + gap))))
    const block = (this.clientWidth - gap * (this.count - 1)) / this.count
    this.cellSize = Math.min(widestCell, Math.max(cellWidth, Math.floor((block - rowWidth) / Math.max(1, this.columns.length))))
  }

  /** However the focus came, the keyboard goes on from there. */
  private focused = (event: FocusEvent): void => {
    const target = event.target as HTMLElement
    const learner = target.closest('tr')?.dataset.learner
    if (learner === undefined) return
    const column = target instanceof HTMLTableCellElement ? target.cellIndex - 2 : -1
    if (learner === this.place.learner && column === this.place.column) return
    this.place = { learner, column }
    this.requestUpdate()
  }

  private key = (event: KeyboardEvent): void => {
    const at = this.rows.findIndex((row) => row.learner === this.place.learner)
    const last = this.columns.length - 1
    const to = {
      ArrowDown: [at + 1, this.place.column],
      ArrowUp: [at - 1, this.place.column],
      ArrowRight: [at, this.place.column + 1],
      ArrowLeft: [at, this.place.column - 1],
      Home: [event.ctrlKey ? 0 : at, -1],
      End: [event.ctrlKey ? this.rows.length - 1 : at, last],
      PageDown: [Math.min(at + 10, this.rows.length - 1), this.place.column],
      PageUp: [Math.max(at - 10, 0), this.place.column],
    }[event.key]
    const row = to && this.rows[to[0] ?? -1]
    if (event.key === 'Enter' && this.place.column >= 0 && this.rows[at]) {
      event.preventDefault()
      this.select(this.rows[at])
    } else if (to) {
      event.preventDefault()
      const column = to[1] ?? -1
      if (!row || column < -1 || column > last) return
      this.place = { learner: row.learner, column }
      this.requestUpdate()
      void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('[tabindex="0"]')?.focus())
    }
  }
}
