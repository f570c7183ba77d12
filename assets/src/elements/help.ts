import { html } from 'lit'
import { customElement, property } from 'lit/decorators.js'
import { icon } from '../icons'
import { hear } from '../page-events'
import { singleKeys } from '../preferences'
import { keyName } from '../shortcuts'
import { LightElement } from './base'

const shortcuts: [string, string[]][] = [
  ['Search', ['Mod+K', '/']],
  ['Between text and terminal', ['F6', 'Ctrl+`']],
  ['New terminal', ['Ctrl+Shift+`']],
  ['Copy, paste in the terminal', ['Mod+Shift+C', 'Mod+Shift+V']],
  ['Save the file in the editor', ['Mod+S']],
  ['Leave the editor’s text', ['Escape']],
  ['Move the divider that has the focus', ['←', '→']],
  ['This help', ['?']],
]

/** The help button and its dialog with the keyboard shortcuts. */
@customElement('apilab-help')
export class ApilabHelp extends LightElement {
  @property() version = ''
  private stop?: () => void

  override connectedCallback(): void {
    super.connectedCallback()
    this.stop = hear('help', () => this.show())
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.stop?.()
  }

  override render() {
    return html`<button type="button" class="icon-button" title="Help" aria-label="Help and keyboard shortcuts" @click=${() => this.show()}>${icon('help')}</button>
      <dialog class="dialog" aria-labelledby="help-title">
        <div class="dialog-body">
          <div class="dialog-head"><h2 id="help-title">Keyboard</h2><form method="dialog"><button class="icon-button" aria-label="Close">${icon('close')}</button></form></div>
          <dl class="shortcuts">
            ${shortcuts.map(
              ([what, keys]) => html`<dt>${what}</dt><dd>${keys.map((key, i) => html`${i ? ' or ' : ''}${keyName(key).map((part, j) => html`${j ? ' ' : ''}<kbd>${part}</kbd>`)}`)}</dd>`,
            )}
          </dl>
          <p class="check-row"><label><input type="checkbox" .checked=${singleKeys.on} @change=${(e: Event) => (singleKeys.on = (e.target as HTMLInputElement).checked)}> Single-key shortcuts (<kbd>/</kbd> and <kbd>?</kbd>) are on</label></p>
          <p class="version-line">apilab ${this.version} · <a href="/assets/licenses.md">Licenses of what is inside</a></p>
        </div>
      </dialog>`
  }

  private show(): void {
    const dialog = this.renderRoot.querySelector('dialog')
    if (dialog && !dialog.open) dialog.showModal()
  }
}
