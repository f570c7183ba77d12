import { html, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { room } from '../class-page'
import { byExercise, level } from '../class-rows'
import type { CellState, Stats } from '../protocol/class-messages'
import { inline } from '../text'
import { LightElement } from './base'
import { legend } from './class-legend'

/** With so many checks a lesson is shown as a whole; a longer one exercise by exercise. */
const fits = 7

const places: CellState[] = ['passing', 'broken', 'failing', 'waiting', 'closed']

/**
 * The class for the wall, to be read from the back of the room: how many pass each check. Nobody is named, and nobody's
 * place in a row tells who they are.
 */
@customElement('apilab-class-projector')
export class ApilabClassProjector extends LightElement {
  @property() name = ''
  /** What was chosen; empty: where the class is. */
  @state() private exercise = ''

  override connectedCallback(): void {
    super.connectedCallback()
    room.addEventListener('change', this.changed)
    document.body.classList.add('projecting')
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    room.removeEventListener('change', this.changed)
    document.body.classList.remove('projecting')
  }

  override render() {
    const { lessons, lesson, rows, checks } = room.grid
    const groups = byExercise(checks)
    const whole = checks.length <= fits && !this.exercise
    const current = groups.find((g) => g.exercise === this.exercise) ?? this.front(groups)
    const shown = whole ? groups : current ? [current] : []
    return html`<div class="board" style="--checks: ${shown.reduce((n, g) => n + g.columns.length, 0)}; --exercises: ${shown.length}">
      <header class="board-head"><h1>${lessons.find((l) => l.id === lesson)?.title ?? this.name}</h1><p>${rows.filter((r) => r.pages > 0).length} of ${rows.length} here</p></header>
      ${shown.map((group) => html`<section><h2>${group.title}</h2><ol class="board-checks">${group.columns.map((column, i) => this.check(group.first + i, column.says, room.grid.stats[group.first + i]))}</ol></section>`)}
      ${checks.length === 0 ? html`<p class="board-note">This lesson has no exercises.</p>` : ''}
      <footer class="board-foot">
        <label>Lesson <select @change=${this.show}>${lessons.map((l) => html`<option value=${l.id} ?selected=${l.id === lesson}>${l.title}</option>`)}</select></label>
        <label>Exercise <select @change=${(e: Event) => (this.exercise = (e.target as HTMLSelectElement).value)}><option value="">${checks.length <= fits ? 'All' : 'Where the class is'}</option>${groups.map((g) => html`<option value=${g.exercise} ?selected=${g.exercise === this.exercise}>${g.title}</option>`)}</select></label>
        <span role="status">${room.connected === 'open' ? 'Live' : 'Reconnecting'}</span>${legend()}
      </footer>
    </div>`
  }

  private check(n: number, says: string, stats: Stats | undefined): TemplateResult {
    const cells = room.grid.rows
      .map((row) => row.cells[n])
      .filter((cell) => cell !== undefined)
      .sort((a, b) => places.indexOf(a.state) - places.indexOf(b.state) || level(b, room.now) - level(a, room.now))
    const passed = stats?.passed ?? 0
    return html`<li>
      <p class="board-says">${inline(says)}</p>
      <p class="board-units" role="img" aria-label="${passed} of ${cells.length} pass">${cells.map((cell) => html`<i class="cell" data-state=${cell.state} data-level=${level(cell, room.now)} ?data-tried=${cell.since !== undefined}></i>`)}</p>
      <p class="board-count"><b>${passed}</b><span> of ${cells.length}</span></p>
    </li>`
  }

  /** The first exercise that fewer than four of five who opened it have passed, else the last one that somebody opened. */
  private front(groups: ReturnType<typeof byExercise>): ReturnType<typeof byExercise>[number] | undefined {
    const last = (g: (typeof groups)[number]) => room.grid.stats[g.first + g.columns.length - 1]
    return groups.find((g) => (last(g)?.opened ?? 0) > 0 && (last(g)?.passed ?? 0) < 0.8 * (last(g)?.opened ?? 0)) ?? groups.filter((g) => (last(g)?.opened ?? 0) > 0).at(-1) ?? groups[0]
  }

  private changed = (): void => {
    this.requestUpdate()
  }

  private show = (event: Event): void => {
    this.exercise = ''
    void room.show((event.target as HTMLSelectElement).value)
  }
}
