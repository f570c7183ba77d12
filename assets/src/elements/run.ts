import { html } from 'lit'
import { customElement, state } from 'lit/decorators.js'
import { announce } from '../announce'
import { icon } from '../icons'
import { tell } from '../page-events'
import { session } from '../page-session'
import { Listening } from './base'
import { CodeBlock } from './code'

/** A block that can be typed into the terminal. */
@customElement('apilab-run')
export class ApilabRun extends CodeBlock {
  @state() private ran = false

  constructor() {
    super()
    new Listening(this, session, ['connection', 'terminals'])
  }

  override render() {
    const can = session.connected === 'open'
    return html`${this.copyButton()}<button type="button" class="run" ?disabled=${!can} title=${can ? 'Type it into the terminal' : 'The page is not connected'} @click=${this.run}>${icon(this.ran ? 'check' : 'play')}${this.ran ? 'Typed' : 'Run'}</button>`
  }

  private run = (): void => {
    tell('run', {
      text: this.text(),
      done: (where) => {
        this.ran = true
        announce(`Typed into ${where}`)
        setTimeout(() => (this.ran = false), 1600)
      },
    })
  }
}
