import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { lowerHand, resetCluster, resetExercise, write } from '../class-acts'
import { byExercise, idle, level, patience, sentence, span } from '../class-rows'
import { words } from '../cluster-words'
import { icon } from '../icons'
import type { Cell, Grid, Row } from '../protocol/class-messages'
import { inline } from '../text'
import { LightElement } from './base'

/** One learner: how they stand with each check and why, and what an instructor can do for them. Escape leads back to the checks. */
@customElement('apilab-class-learner')
export class ApilabClassLearner extends LightElement {
  @property() learner = ''
  @property({ attribute: false }) grid?: Grid
  @property({ attribute: false }) now = 0
  @property({ type: Boolean }) nameless = false
  @state() private watching = false

  override connectedCallback(): void {
    super.connectedCallback()
    this.addEventListener('keydown', this.key)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.removeEventListener('keydown', this.key)
  }

  override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has('learner')) this.watching = false
  }

  override render() {
    const row = this.grid?.rows.find((r) => r.learner === this.learner)
    if (!row || !this.grid) return nothing
    const name = this.nameless ? `Learner ${row.seat}` : row.name
    const shown = { ...row, name }
    return html`<div class="side-head"><h2 tabindex="-1"><bdi>${name}</bdi></h2><button type="button" class="icon-button" title="Back to the checks" aria-label="Back to the checks" @click=${this.close}>${icon('close')}</button></div>
      <p class="side-facts">${this.facts(row)}</p>
      ${row.handAt ? html`<p class="side-hand">${icon('hand')}<span>Hand up for ${span(this.now - Date.parse(row.handAt))}</span><button type="button" class="button" @click=${() => lowerHand(shown)}>Lower it</button></p>` : nothing}
      <div class="side-acts">
        <button type="button" class="button primary" @click=${() => this.watch(shown)}>${icon('terminal')}Watch terminal</button>
        <button type="button" class="button" @click=${() => write(shown)}>Message</button>
        <button type="button" class="button danger" @click=${() => resetCluster(shown)}>Reset cluster</button>
      </div>
      ${byExercise(this.grid.checks).map(
        (group) => html`<section class="side-exercise"><h3>${group.title}</h3><ol class="side-checks">${group.columns.map((column, i) => this.check(group.first + i, column.says, row.cells[group.first + i]))}</ol>
          ${row.cells[group.first]?.state === 'closed' ? nothing : html`<button type="button" class="button quiet" @click=${() => resetExercise(shown, group.exercise, group.title)}>Reset exercise<span class="visually-hidden"> ${group.title}</span></button>`}</section>`,
      )}`
  }

  private facts(row: Row): string {
    const nothingFor = idle(row, this.now)
    return [
      row.pages === 0 ? 'Away' : nothingFor >= patience ? `Idle for ${span(nothingFor)}` : row.busy ? 'A command is running' : 'Here',
      row.lesson && `in “${row.lesson}”`,
      `cluster ${words[row.cluster]}`,
    ]
      .filter(Boolean)
      .join(' · ')
  }

  private check(n: number, says: string, cell: Cell | undefined): TemplateResult | typeof nothing {
    if (!cell) return nothing
    return html`<li value=${n + 1}>
      <p class="side-says"><span class="cell mark" data-state=${cell.state} data-level=${level(cell, this.now)} ?data-tried=${cell.since !== undefined} aria-hidden="true"></span><span><span class="side-number">${n + 1}</span> ${inline(says)}</span></p>
      <p class="side-state">${sentence(cell, this.now)}</p>
      ${cell.why ? html`<p class="side-why">${inline(cell.why)}</p>` : nothing}
    </li>`
  }

  private async watch(row: Row): Promise<void> {
    if (this.watching) return
    this.watching = true
    try {
      const { watch } = await import('./class-watch')
      await watch(row)
    } finally {
      this.watching = false
    }
  }

  private close = (): void => {
    this.dispatchEvent(new CustomEvent('close', { bubbles: true }))
  }

  private key = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && !document.querySelector('dialog[open]')) this.close()
  }
}
