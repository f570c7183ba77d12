import { html, nothing } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { session } from '../page-session'
import type { EditorRequest } from '../protocol/messages'
import { sentence } from '../text'
import { LightElement, Listening } from './base'
import type { ApilabEditor } from './editor'
import './editor'

/** The editor that a program in the terminal waits for: kubectl edit, nano, vi. */
@customElement('apilab-page-editor')
export class ApilabPageEditor extends LightElement {
  @property({ attribute: false }) request!: EditorRequest
  @state() private problem = ''
  @state() private ending = false
  private ended = false

  constructor() {
    super()
    new Listening(this, session, ['connection'])
  }

  override firstUpdated(): void {
    void this.editor?.focus()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    if (this.ended || this.editor?.value === this.request.text) return
    session.notify('warning', `The program that waited for ${this.request.name} has ended, so what you changed in the editor was not saved.`)
  }

  override render() {
    const can = session.connected === 'open' && !this.ending
    return html`<div class="editor">
      <div class="editor-head">
        <span class="name" title=${this.request.name}>${this.request.name}</span>
        <button type="button" class="button" ?disabled=${!can} @click=${() => this.end(false)}>Discard</button>
        <button type="button" class="button primary" ?disabled=${!can} @click=${() => this.end(true)}>Save and close</button>
      </div>
      <apilab-editor class="editor-text" .name=${this.request.name} .language=${this.request.language} .text=${this.request.text} @save=${() => this.end(true)}></apilab-editor>
      <p class="editor-status ${this.problem ? 'problem' : ''}" role="status">${this.problem || (can ? 'The program in the terminal waits for this text.' : session.connected === 'open' ? nothing : 'Not connected. Your text is kept here; save when the connection is back.')}</p>
    </div>`
  }

  private get editor(): ApilabEditor | null {
    return this.renderRoot.querySelector('apilab-editor')
  }

  private async end(save: boolean): Promise<void> {
    if (this.ending) return
    this.ending = true
    this.problem = ''
    try {
      await session.request('editor.done', { token: this.request.token, save, text: save ? (this.editor?.value ?? '') : '' })
      this.ended = true
      session.editorClosed(this.request.token)
    } catch (error) {
      this.problem = `Not saved. ${sentence(error)}`
    } finally {
      this.ending = false
    }
  }
}
