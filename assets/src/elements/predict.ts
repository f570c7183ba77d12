import { html, nothing, render } from 'lit'
import { customElement } from 'lit/decorators.js'
import { announce } from '../announce'

/**
 * A question before the surprise. The options that the server listed become buttons; a pick shows the answer. What was
 * picked is nobody's business and is not kept.
 */
@customElement('apilab-predict')
export class ApilabPredict extends HTMLElement {
  private options: { body: Node[]; right: boolean }[] = []
  private list: HTMLElement | null = null
  private picked = -1

  connectedCallback(): void {
    if (this.list) return
    this.list = this.querySelector('.options')
    if (!this.list) return
    this.options = [...this.list.children].map((item) => ({ body: [...item.childNodes], right: item.hasAttribute('data-right') }))
    this.list.replaceChildren()
    this.draw()
  }

  private draw(): void {
    if (!this.list) return
    const answered = this.picked >= 0
    render(
      this.options.map(
        ({ body, right }, i) => html`<li>
          <button type="button" class="predict-option ${answered && right ? 'right' : ''} ${this.picked === i ? 'picked' : ''}" ?disabled=${answered} @click=${() => this.pick(i)}>
            <span class="letter">${String.fromCharCode(65 + i)}</span><span>${body}</span>${answered && (right || this.picked === i) ? html`<span class="verdict">${this.verdict(i, right)}</span>` : nothing}
          </button>
        </li>`,
      ),
      this.list,
    )
  }

  private verdict(i: number, right: boolean): string {
    if (!right) return 'your guess'
    return this.picked === i ? 'right' : 'what happens'
  }

  private pick(i: number): void {
    this.picked = i
    this.draw()
    const answer = this.querySelector('details')
    if (answer) {
      answer.open = true
      answer.querySelector('summary')?.focus()
    }
    announce(this.options[i]?.right ? 'Right.' : `Not quite. ${this.rightLetter()} is what happens.`)
  }

  private rightLetter(): string {
    return String.fromCharCode(65 + this.options.findIndex((option) => option.right))
  }
}
