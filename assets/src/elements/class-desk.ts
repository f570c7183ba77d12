import { html, nothing, type TemplateResult } from 'lit'
import { customElement } from 'lit/decorators.js'
import { repeat } from 'lit/directives/repeat.js'
import { announce } from '../announce'
import { session } from '../page-session'
import type { Observer } from '../protocol/class-messages'
import { sentence } from '../text'
import { LightElement, Listening } from './base'

/**
 * What comes from the learner's instructor, below the top bar: messages, which stay until they are dismissed; who looks at
 * the terminals, and whether they may type; and that the lesson of this page was closed or opened meanwhile.
 */
@customElement('apilab-class-desk')
export class ApilabClassDesk extends LightElement {
  private heard = new Set<string>()

  constructor() {
    super()
    new Listening(this, session, ['class'])
  }

  override updated(): void {
    for (const [id, words] of this.news()) {
      if (!this.heard.has(id)) announce(words)
      this.heard.add(id)
    }
  }

  override render() {
    const { messages, observers } = session.class
    return html`<section class="desk" aria-label="From your instructor">
      ${this.pace()}
      ${repeat(observers, (o) => o.id, (o) => this.observer(o))}
      ${repeat(
        messages,
        (m) => m.id,
        (m) => html`<div class="desk-line message">
          <p><strong class="from">${m.from}</strong><span class="said">${m.text}</span></p>
          <button type="button" class="button" @click=${() => this.ask(session.request('message.dismiss', { message: m.id }))}>Dismiss</button>
        </div>`,
      )}
    </section>`
  }

  private observer(o: Observer): TemplateResult {
    const allow = (yes: boolean) => () => this.ask(session.request('observer.allow', { observer: o.id, allow: yes }))
    switch (o.typing) {
      case 'asked':
        return html`<div class="desk-line asked" role="alertdialog" aria-label="${o.name} asks to type in your terminals"><p><strong class="from">${o.name}</strong> asks to type in your terminals. You can end it at any time.</p>
          <button type="button" class="button primary" @click=${allow(true)}>Let them type</button><button type="button" class="button" @click=${allow(false)}>No</button></div>`
      case 'allowed':
        return html`<div class="desk-line allowed"><p><strong class="from">${o.name}</strong> can type in your terminals.</p><button type="button" class="button" @click=${allow(false)}>End it</button></div>`
      case 'no':
        return html`<div class="desk-line watching"><p><strong class="from">${o.name}</strong> is looking at your terminals.</p></div>`
    }
  }

  /** The page of a lesson says whether it was closed when the server made it. */
  private pace(): TemplateResult | typeof nothing {
    const page = document.querySelector<HTMLElement>('[data-lesson]')
    const id = page?.dataset.lesson
    if (!page || id === undefined) return nothing
    const now = session.class.closed.includes(id)
    const then = page.dataset.closed !== undefined
    if (now === then) return nothing
    return now
      ? html`<div class="desk-line pace"><p>Your instructor has closed this lesson for now. What you have done is kept.</p><a class="button" href="/">All lessons</a></div>`
      : html`<div class="desk-line pace"><p>Your instructor has opened this lesson.</p><button type="button" class="button primary" @click=${() => session.reload()}>Begin</button></div>`
  }

  private news(): [string, string][] {
    const { messages, observers } = session.class
    return [
      ...messages.map((m): [string, string] => [`message ${m.id}`, `${m.from} writes: ${m.text}`]),
      ...observers.map((o): [string, string] => [`observer ${o.id} ${o.typing}`, { no: `${o.name} is looking at your terminals`, asked: `${o.name} asks to type in your terminals`, allowed: `${o.name} can type in your terminals` }[o.typing]]),
    ]
  }

  private async ask(request: Promise<unknown>): Promise<void> {
    try {
      await request
    } catch (error) {
      session.notify('error', sentence(error))
    }
  }
}
