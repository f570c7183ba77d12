import { html } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { announce } from '../announce'
import { copy } from '../clipboard'
import { icon } from '../icons'
import { tell } from '../page-events'
import { session } from '../page-session'
import { isWhole } from '../placeholder'
import { Listening, LightElement } from './base'

/** A button beside a command in a row: it runs the command, or copies one that has a gap to fill or nowhere to run. */
@customElement('apilab-command')
export class ApilabCommand extends LightElement {
  @property() text = ''
  @state() private done = false

  constructor() {
    super()
    new Listening(this, session, ['connection'])
  }

  override render() {
    const runs = session.connected === 'open' && isWhole(this.text)
    const label = `${runs ? 'Run' : 'Copy'} ${this.text}`
    return html`<button type="button" class="command-button" aria-label=${label} title=${runs ? 'Run in the terminal' : 'Copy'} @click=${runs ? this.run : this.copy}>${icon(this.done ? 'check' : runs ? 'play' : 'copy')}</button>`
  }

  private run = (): void => {
    tell('run', { text: this.text, done: (where) => this.say(`Typed into ${where}`) })
  }

  private copy = async (): Promise<void> => {
    this.say((await copy(this.text)) ? 'Copied' : 'The browser did not allow copying')
  }

  private say(what: string): void {
    this.done = true
    announce(what)
    setTimeout(() => (this.done = false), 1600)
  }
}

/** Gives each command in the rows of a table its button. */
export function offerCommands(body: HTMLElement): void {
  for (const code of body.querySelectorAll('td code')) {
    const text = code.textContent.trim()
    if (/^(kubectl|curl|watch) /.test(text)) code.after(' ', Object.assign(document.createElement('apilab-command'), { text }))
  }
}
