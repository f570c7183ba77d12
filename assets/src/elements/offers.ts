import { html, type TemplateResult } from 'lit'
import { cancel, reset, start, switchTo } from '../cluster-actions'
import { session } from '../page-session'
import type { ClusterStatus } from '../protocol/messages'
import { recourse, type Recourse } from '../recourse'

/** Buttons for what can be done about the cluster; the first is what to try first. */
export function offers(status: ClusterStatus, wanted: (r: Recourse) => boolean = () => true): TemplateResult[] {
  return recourse(status, session.backends)
    .filter(wanted)
    .map((r, i) =>
      r.does === 'logs'
        ? html`<a class="button" href="/cluster/logs">${r.label}</a>`
        : html`<button type="button" class="button ${i === 0 && r.does !== 'cancel' ? 'primary' : ''}" @click=${() => follow(r, status)}>${r.label}</button>`,
    )
}

function follow(r: Recourse, status: ClusterStatus): void {
  switch (r.does) {
    case 'start':
      return void start()
    case 'cancel':
      return void cancel()
    case 'renew':
      return void reset(status)
    case 'switch':
      return void switchTo(r.to)
  }
}
