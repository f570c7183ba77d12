import { html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { LightElement } from './base'
import './run'

/** A revealed solution, ready to be run. */
@customElement('apilab-solution')
export class ApilabSolution extends LightElement {
  @property({ attribute: false }) text = ''

  override render() {
    const text = this.text.replace(/\n$/, '')
    // One string, so that a changed solution replaces the block whole and its buttons with it.
    return html`<div class="solution"><p class="label">Solution</p><apilab-run><pre class="code" data-lang="sh" tabindex="0"><code>${text}</code></pre></apilab-run></div>`
  }
}
