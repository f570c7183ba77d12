import { html } from 'lit'
import { customElement, property, state } from 'lit/decorators.js'
import { announce } from '../announce'
import { icon } from '../icons'
import { tell } from '../page-events'
import { session } from '../page-session'
import { Listening } from './base'
import { CodeBlock } from './code'

/** A block that can be typed into the terminal. */
@customElement('apilab-run')
export class ApilabRun extends CodeBlock {
  /** The place of the terminal that it wants, from 1; 0 for the one in front. */
  @property({ type: Number }) terminal = 0
  @state() private ran = false

  constructor() {
    super()
    new Listening(this, session, ['connection', 'terminals'])
  }

  override render() {
    const can = session.connected === 'open'
    return html`${this.copyButton()}<button type="button" class="run" ?disabled=${!can} title=${can ? `Type it into ${this.terminal ? `terminal ${this.terminal}` : 'the terminal'}` : 'The page is not connected'} @click=${this.run}>${icon(this.ran ? 'check' : 'play')}${this.ran ? 'Typed' : this.terminal ? `Run in ${this.terminal}` : 'Run'}</button>`
  }

  private run = (): void => {
    tell('run', {
      text: this.text(),
      ...(this.terminal ? { place: this.terminal } : {}),
      done: (where) => {
        this.ran = true
        announce(`Typed into ${where}`)
        setTimeout(() => (this.ran = false), 1600)
      },
    })
  }
}
