import { customElement } from 'lit/decorators.js'
import { CodeBlock } from './code'

/** A transcript: the copy button takes the commands alone. */
@customElement('apilab-transcript')
export class ApilabTranscript extends CodeBlock {
  protected override text(): string {
    return [...this.querySelectorAll('.command code')].map((command) => command.textContent.replace(/\n$/, '')).join('\n')
  }
}
