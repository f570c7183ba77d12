import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { byExercise, span } from '../class-rows'
import type { Grid, Stats } from '../protocol/class-messages'
import { inline } from '../text'
import { LightElement } from './base'

/** The checks of the lesson: how many pass, how long that took, and why most of the others do not yet. */
@customElement('apilab-class-checks')
export class ApilabClassChecks extends LightElement {
  @property({ attribute: false }) grid?: Grid

  override render() {
    const { grid } = this
    if (!grid) return nothing
    return html`<h2>Checks</h2>
      ${byExercise(grid.checks).map(
        (group) => html`<section class="side-exercise"><h3>${group.title}</h3><ol class="side-checks" start=${group.first + 1}>${group.columns.map((column, i) => this.check(group.first + i, column.says, grid.stats[group.first + i], grid.rows.length))}</ol></section>`,
      )}`
  }

  private check(n: number, says: string, stats: Stats | undefined, all: number): TemplateResult {
    const passed = stats?.passed ?? 0
    return html`<li value=${n + 1}>
      <p class="side-says"><span class="side-number">${n + 1}</span><span>${inline(says)}</span></p>
      <p class="side-share"><meter min="0" max=${Math.max(1, all)} value=${passed} aria-label="Passed"></meter><span><b>${passed}</b> of ${all} pass</span>${stats?.median ? html`<span class="faint">median ${span(stats.median / 1e6)}</span>` : nothing}</p>
      ${stats?.why ? html`<p class="side-why"><b>${stats.count ?? 1}×</b> ${inline(stats.why)}</p>` : nothing}
    </li>`
  }
}
