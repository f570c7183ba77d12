import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { icon } from '../icons'
import { session } from '../page-session'
import type { FileInfo } from '../protocol/messages'
import { sentence } from '../text'
import { LightElement, Listening } from './base'
import { confirm } from './confirm'
import type { ApilabEditor } from './editor'
import './editor'

interface OpenFile {
  path: string
  text: string
  version?: string
}

/** The learner's home folder: a tree, and an editor for one file. Read anew when the pane comes to the front. */
@customElement('apilab-files')
export class ApilabFiles extends LightElement {
  @property({ type: Boolean }) active = false
  @state() private files?: FileInfo[]
  @state() private file?: OpenFile
  @state() private dirty = false
  @state() private naming = false
  @state() private message = ''
  @state() private problem = false
  @state() private conflict = false

  constructor() {
    super()
    new Listening(this, session, ['connection'])
  }

  override connectedCallback(): void {
    super.connectedCallback()
    session.on('terminals', () => this.active && this.list()) // a command has ended and may have written files
    addEventListener('beforeunload', this.guard)
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    removeEventListener('beforeunload', this.guard)
  }

  override updated(changed: Map<string, unknown>): void {
    if (changed.has('active') && this.active) void this.list()
    if (changed.has('naming') && this.naming) this.renderRoot.querySelector<HTMLElement>('.new-file')?.focus()
  }

  override render() {
    return html`<div class="files">
      <div class="files-list">
        <div class="files-head"><span>~</span><span>
          <button type="button" class="icon-button" title="New file" aria-label="New file" @click=${() => (this.naming = true)}>${icon('plus')}</button>
          <button type="button" class="icon-button" title="Read the folder again" aria-label="Read the folder again" @click=${() => this.list()}>${icon('refresh')}</button>
        </span></div>
        <nav class="tree" aria-label="Files of your home folder">${this.naming ? this.nameField() : nothing}${this.tree()}</nav>
      </div>
      ${this.file ? this.editing(this.file) : html`<p class="pane-empty">Pick a file to read and change it here. What a command writes in the terminal shows up in the list.</p>`}
    </div>`
  }

  private tree(): TemplateResult {
    if (!this.files) return html`<p class="tree-note">${this.message || 'Reading the folder'}</p>`
    if (this.files.length === 0) return html`<p class="tree-note">No files yet.</p>`
    return html`${this.files.map((file) => this.row(file))}`
  }

  private row(file: FileInfo): TemplateResult {
    const parts = file.path.split('/')
    const name = parts.at(-1) ?? file.path
    const depth = `--depth:${parts.length - 1}`
    if (file.dir) return html`<div class="tree-dir" style=${depth}>${icon('folder')}${name}</div>`
    return html`<button type="button" style=${depth} aria-current=${this.file?.path === file.path} title=${file.path} @click=${() => this.open(file.path)}>${icon('file')}${name}</button>`
  }

  private nameField(): TemplateResult {
    return html`<form @submit=${this.create}><input class="new-file" name="path" aria-label="Name of the new file" placeholder="name.yaml" autocomplete="off" spellcheck="false" @keydown=${(e: KeyboardEvent) => {
      if (e.key === 'Escape') this.naming = false
    }}></form>`
  }

  private editing(file: OpenFile): TemplateResult {
    const can = session.connected === 'open'
    return html`<div class="editor">
      <div class="editor-head">
        <span class="name" title=${file.path}>${file.path}${this.dirty ? ' •' : ''}</span>${this.dirty ? html`<span class="visually-hidden">not saved</span>` : nothing}
        <button type="button" class="button quiet" ?disabled=${!can} @click=${this.discard}>Delete</button>
        <button type="button" class="button primary" ?disabled=${!can || !this.dirty} @click=${() => this.save()}>Save</button>
      </div>
      <apilab-editor class="editor-text" .name=${file.path} .text=${file.text} @changed=${() => (this.dirty = true)} @save=${() => this.save()}></apilab-editor>
      <p class="editor-status ${this.problem ? 'problem' : ''}" role="status">${this.message}${
        this.conflict
          ? html` <button type="button" class="button" @click=${() => this.open(file.path, true)}>Read it again</button> <button type="button" class="button" @click=${() => this.save(true)}>Write mine over it</button>`
          : nothing
      }</p>
    </div>`
  }

  private say(message: string, problem = false): void {
    this.message = message
    this.problem = problem
    this.conflict = false
  }

  private async list(): Promise<void> {
    try {
      const files = (await session.request('files.list', {})) ?? []
      this.files = files.sort((a, b) => a.path.localeCompare(b.path))
    } catch (error) {
      if (!this.files) this.message = sentence(error)
    }
  }

  private async open(path: string, again = false): Promise<void> {
    if (!again && this.file?.path === path) return
    if (this.dirty && !(await this.mayDrop())) return
    try {
      const { text, version } = await session.request('file.read', { path })
      this.file = { path, text, version }
      this.dirty = false
      this.say('')
      await this.updateComplete
      void this.editor?.focus()
    } catch (error) {
      this.say(sentence(error), true)
      session.notify('error', `${path} was not opened. ${sentence(error)}`)
    }
  }

  private create = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const path = new FormData(event.target as HTMLFormElement).get('path')
    this.naming = false
    if (typeof path !== 'string' || !path.trim()) return
    if (this.files?.some((f) => f.path === path.trim())) return this.open(path.trim())
    if (this.dirty && !(await this.mayDrop())) return
    this.file = { path: path.trim(), text: '' }
    this.dirty = true
    this.say('A new file; it is written when you save.')
    await this.updateComplete
    void this.editor?.focus()
  }

  private async save(over = false): Promise<void> {
    const file = this.file
    const text = this.editor?.value
    if (!file || text === undefined) return
    try {
      const { version } = await session.request('file.write', { path: file.path, text, ...(file.version && !over ? { version: file.version } : {}) })
      file.version = version
      this.dirty = this.editor?.value !== text
      this.say(`Saved, ${new Date().toLocaleTimeString()}`)
      await this.list()
    } catch (error) {
      this.say(`Not saved. ${sentence(error)}`, true)
      this.conflict = file.version !== undefined && session.connected === 'open'
    }
  }

  private discard = async (): Promise<void> => {
    const file = this.file
    if (!file) return
    if (!(await confirm({ title: `Delete ${file.path}?`, text: 'The file is removed from your home folder. This cannot be taken back.', action: 'Delete file', danger: true }))) return
    try {
      if (file.version) await session.request('file.delete', { path: file.path })
      this.file = undefined
      this.dirty = false
      await this.list()
    } catch (error) {
      this.say(sentence(error), true)
    }
  }

  private mayDrop(): Promise<boolean> {
    return confirm({ title: 'Leave without saving?', text: `What you changed in ${this.file?.path ?? 'the file'} is not saved and would be lost.`, action: 'Leave', danger: true })
  }

  private guard = (event: BeforeUnloadEvent): void => {
    if (this.dirty) event.preventDefault()
  }

  private get editor(): ApilabEditor | null {
    return this.renderRoot.querySelector('apilab-editor')
  }
}
