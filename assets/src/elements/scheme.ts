import { html } from 'lit'
import { customElement } from 'lit/decorators.js'
import { announce } from '../announce'
import { icon } from '../icons'
import { scheme, setScheme, type Scheme } from '../preferences'
import { LightElement } from './base'

const after: Record<Scheme, Scheme> = { system: 'light', light: 'dark', dark: 'system' }
const label: Record<Scheme, string> = { system: 'as the system', light: 'light', dark: 'dark' }

/** Steps through the colour schemes: the system's, light, dark. */
@customElement('apilab-scheme')
export class ApilabScheme extends LightElement {
  override render() {
    const now = scheme()
    return html`<button type="button" class="icon-button" title="Colours: ${label[now]}" aria-label="Colours: ${label[now]}. Change to ${label[after[now]]}" @click=${this.step}>${icon(now)}</button>`
  }

  private step = (): void => {
    setScheme(after[scheme()])
    announce(`Colours: ${label[scheme()]}`)
    this.requestUpdate()
  }
}
