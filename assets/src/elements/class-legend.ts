import { html, nothing, type TemplateResult } from 'lit'

const marks: [string, number, boolean, string][] = [
  ['passing', 0, true, 'passed'],
  ['failing', 0, true, 'not yet'],
  ['failing', 1, true, '2 min'],
  ['failing', 2, true, '5 min'],
  ['failing', 3, true, '10 min and more'],
  ['failing', 0, false, 'not tried'],
  ['waiting', 0, false, 'waiting'],
  ['closed', 0, false, 'not opened'],
  ['broken', 0, true, 'check failed'],
]

/** What the marks mean. */
export function legend(): TemplateResult {
  return html`<ul class="legend" aria-label="What the marks mean">${marks.map(
    ([state, level, tried, says]) => html`<li><span class="cell mark" data-state=${state} data-level=${level} ?data-tried=${tried} aria-hidden="true"></span>${level === 1 ? html`<span class="visually-hidden">not yet, for </span>` : nothing}${says}</li>`,
  )}</ul>`
}
