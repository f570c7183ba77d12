import type { EditorView } from '@codemirror/view'
import { customElement, property } from 'lit/decorators.js'
import { LightElement } from './base'

/** A text in CodeMirror, which is loaded when the first one is wanted. Fires `changed` and `save`. */
@customElement('apilab-editor')
export class ApilabEditor extends LightElement {
  @property({ attribute: false }) text = ''
  @property({ attribute: false }) name = ''
  @property({ attribute: false }) language = ''
  private view?: EditorView
  private loading?: Promise<void>

  override updated(changed: Map<string, unknown>): void {
    if (changed.has('text') || changed.has('name')) this.loading = this.fill()
  }

  /** What is in the editor now. */
  get value(): string {
    return this.view?.state.doc.toString() ?? this.text
  }

  override async focus(): Promise<void> {
    await this.updateComplete
    await this.loading
    this.view?.focus()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    this.view?.destroy()
    this.view = undefined
  }

  private async fill(): Promise<void> {
    const { editor } = await import('../editor/codemirror')
    this.view?.destroy()
    this.view = editor({
      parent: this,
      text: this.text,
      language: this.language || languageByName(this.name),
      label: this.name,
      changed: () => this.dispatchEvent(new Event('changed')),
      save: () => this.dispatchEvent(new Event('save')),
    })
  }
}

function languageByName(name: string): string {
  const ending = name.slice(name.lastIndexOf('.') + 1)
  return { yaml: 'yaml', yml: 'yaml', json: 'json', sh: 'sh', bash: 'sh' }[ending] ?? (name.startsWith('.') ? 'sh' : '')
}
