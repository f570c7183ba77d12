import { html, nothing, type TemplateResult } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { extend, handOut, moment, pace, warmUp, write } from '../class-acts'
import { room } from '../class-page'
import { filters, matches, orders, sorted, type Filter, type Order } from '../class-rows'
import { icon } from '../icons'
import type { Row } from '../protocol/class-messages'
import { LightElement } from './base'
import './class-checks'
import './class-grid'
import './class-handout'
import './class-learner'
import './class-projector'

/** How often times are drawn anew, in ms: they are told in minutes. */
const minute = 20_000

/** The page of a class: everything about it, live. Which learners are shown in which order is kept for this tab. */
@customElement('apilab-classroom')
export class ApilabClassroom extends LightElement {
  @property() name = ''
  @state() private filter: Filter = 'all'
  @state() private order: Order = 'help'
  @state() private query = ''
  @state() private nameless = false
  @state() private selected = ''
  private readonly projector = new URLSearchParams(location.search).has('projector')
  private timer?: ReturnType<typeof setInterval>

  override connectedCallback(): void {
    super.connectedCallback()
    room.addEventListener('change', this.changed)
    this.timer = setInterval(this.changed, minute)
    room.connect()
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback()
    room.removeEventListener('change', this.changed)
    clearInterval(this.timer)
  }

  override render() {
    if (!room.known) return html`<div class="room-empty"><h1>${this.name}</h1><p role="status">${room.connected === 'refused' ? 'You are signed out. Sign in, and load the page again.' : 'Connecting to the class.'}</p></div>`
    if (this.projector) return html`<apilab-class-projector name=${this.name}></apilab-class-projector>`
    const { rows, lesson, lessons, handout } = room.grid
    const shown = this.shown()
    return html`<header class="room-head">
        <h1>${room.grid.class.name}</h1>
        ${this.summary(rows)}
        <div class="room-acts" role="group" aria-label="The class">
          <button type="button" class="button" @click=${() => write()}>Message all</button>
          <button type="button" class="button" @click=${handOut}>Hand out</button>
          <button type="button" class="button" @click=${pace}>Lessons</button>
          <button type="button" class="button" @click=${warmUp} title="Make clusters before the learners come">${room.warmUp.underWay ? `${room.warmUp.ready} of ${room.warmUp.wanted} clusters` : 'Warm up'}</button>
          <button type="button" class="button" @click=${extend}>${room.grid.class.ends ? `Ends ${moment(room.grid.class.ends)}` : 'No end'}</button>
          <details class="room-menu"><summary class="button">Export</summary><div><a href="${location.pathname}/progress.csv" download>CSV, for a spreadsheet</a><a href="${location.pathname}/progress.json" download>JSON, for a program</a></div></details>
          <a class="button" href="?projector" target="_blank">Projector</a>
        </div>
      </header>
      <div class="room-tools">
        <label><span class="visually-hidden">Lesson</span><select class="room-lesson" @change=${this.show}>${this.tracks()}</select></label>
        <div class="segments" role="radiogroup" aria-label="Show">${(Object.keys(filters) as Filter[]).map((filter) => this.segment(filter, rows))}</div>
        <label class="tool">Sort <select @change=${(e: Event) => (this.order = (e.target as HTMLSelectElement).value as Order)}>${Object.entries(orders).map(([id, says]) => html`<option value=${id} ?selected=${id === this.order}>${says}</option>`)}</select></label>
        <label class="tool"><span class="visually-hidden">Find by name</span><input type="search" placeholder="Name" autocomplete="off" .value=${this.query} @input=${(e: Event) => (this.query = (e.target as HTMLInputElement).value)}></label>
        <button type="button" class="button quiet" aria-pressed=${this.nameless} @click=${() => (this.nameless = !this.nameless)}>${this.nameless ? 'Show names' : 'Hide names'}</button>
      </div>
      ${handout ? html`<apilab-class-handout .handout=${handout} ?nameless=${this.nameless}></apilab-class-handout>` : nothing}
      <div class="room-body">
        ${rows.length === 0 ? this.nobody() : shown.length === 0 ? html`<div class="room-empty"><p>No learner is ${this.query ? `called “${this.query}”` : 'like this'}. <button type="button" class="button" @click=${this.all}>Show all</button></p></div>` : html`<apilab-class-grid .rows=${shown} .columns=${room.grid.checks} .lesson=${lessons.find((l) => l.id === lesson)} .now=${room.now} selected=${this.selected} ?nameless=${this.nameless} @select=${this.select}></apilab-class-grid>`}
        <aside class="room-side" tabindex="0" aria-label=${this.selected ? 'Learner' : 'Checks'}>
          ${this.selected && room.row(this.selected) ? html`<apilab-class-learner learner=${this.selected} .now=${room.now} .grid=${room.grid} ?nameless=${this.nameless} @close=${this.close}></apilab-class-learner>` : html`<apilab-class-checks .grid=${room.grid}></apilab-class-checks>`}
        </aside>
      </div>`
  }

  /** How the class is, in one line; also what is wrong with the connection. */
  private summary(rows: Row[]): TemplateResult {
    const here = rows.filter((row) => row.pages > 0).length
    return html`<p class="room-summary" role="status">${room.connected === 'open' ? html`<span class="live">Live</span>` : html`<span class="lost">${room.connected === 'refused' ? 'Signed out' : 'Reconnecting; this is how it was'}</span>`}
      <span>${here} of ${rows.length} here</span></p>`
  }

  private tracks(): TemplateResult[] {
    const tracks = [...new Set(room.grid.lessons.map((l) => l.track))]
    return tracks.map((track) => html`<optgroup label=${track}>${room.grid.lessons
      .filter((l) => l.track === track)
      .map((l) => html`<option value=${l.id} ?selected=${l.id === room.grid.lesson}>${l.title}${l.here ? ` (${l.here} here)` : ''}${l.closed ? ', closed' : ''}</option>`)}</optgroup>`)
  }

  private segment(filter: Filter, rows: Row[]): TemplateResult {
    const count = rows.filter((row) => matches(row, filter, room.now)).length
    return html`<label class="segment" data-filter=${filter}><input type="radio" name="filter" value=${filter} .checked=${filter === this.filter} @change=${() => (this.filter = filter)}><span>${filter === 'hand' ? icon('hand') : nothing}${filters[filter]} <b>${count}</b></span></label>`
  }

  private nobody(): TemplateResult {
    return html`<div class="room-empty"><h2>Nobody has joined yet</h2><p>Learners come with the join code of the class, which is on the page of your classes. They appear here by themselves.</p></div>`
  }

  private shown(): Row[] {
    const query = this.query.trim().toLowerCase()
    const rows = room.grid.rows.filter((row) => matches(row, this.filter, room.now) && (query === '' || row.name.toLowerCase().includes(query)))
    return sorted(rows, this.order, room.now)
  }

  private changed = (): void => {
    this.requestUpdate()
  }

  private show = (event: Event): void => {
    void room.show((event.target as HTMLSelectElement).value)
  }

  private all = (): void => {
    this.filter = 'all'
    this.query = ''
  }

  private select = (event: CustomEvent<string>): void => {
    this.selected = event.detail
    if (!this.selected) return
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>('apilab-class-learner h2')?.focus())
  }

  private close = (): void => {
    const learner = this.selected
    this.selected = ''
    void this.updateComplete.then(() => this.renderRoot.querySelector<HTMLElement>(`[data-learner="${CSS.escape(learner)}"] button`)?.focus())
  }
}
