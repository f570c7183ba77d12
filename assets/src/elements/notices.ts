import { html, nothing } from 'lit'
import { customElement } from 'lit/decorators.js'
import { repeat } from 'lit/directives/repeat.js'
import { icon } from '../icons'
import { session } from '../page-session'
import { LightElement, Listening } from './base'

/** What the learner should know, until they dismiss it. */
@customElement('apilab-notices')
export class ApilabNotices extends LightElement {
  constructor() {
    super()
    new Listening(this, session, ['notices'])
  }

  override render() {
    return html`<div class="notices" role="log" aria-label="Notices">${
      session.notices.length === 0
        ? nothing
        : repeat(
            session.notices,
            (notice) => notice.id,
            (notice) => html`<div class="notice ${notice.level}"><span>${notice.text}</span>${
              notice.reload ? html`<button type="button" class="button" @click=${() => session.reload()}>Load the page again</button>` : nothing
            }<button type="button" class="icon-button" aria-label="Dismiss this notice" @click=${() => session.dismiss(notice.id)}>${icon('close')}</button></div>`,
          )
    }</div>`
  }
}
