import { html } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { announce } from '../announce'
import { copy } from '../clipboard'
import { icon } from '../icons'
import { LightElement } from './base'

/** Keeps the block that the server drew, and hangs its buttons beside it. */
export class CodeBlock extends LightElement {
  @state() protected copied = false

  protected override createRenderRoot(): HTMLElement {
    const tools = document.createElement('div')
    tools.className = 'block-tools'
    this.append(tools)
    return tools
  }

  /** What the copy button takes. */
  protected text(): string {
    return this.querySelector('pre code')?.textContent.replace(/\n$/, '') ?? ''
  }

  override render() {
    return this.copyButton()
  }

  protected copyButton() {
    return html`<button type="button" class="copy" @click=${this.copy}>${icon(this.copied ? 'check' : 'copy')}<span class="copy-word">${this.copied ? 'Copied' : 'Copy'}</span></button>`
  }

  private copy = async (): Promise<void> => {
    this.copied = await copy(this.text())
    announce(this.copied ? 'Copied' : 'The browser did not allow copying')
    setTimeout(() => (this.copied = false), 1600)
  }
}

@customElement('apilab-code')
export class ApilabCode extends CodeBlock {}
