import { html, type TemplateResult } from 'lit'
import { icon } from '../icons'
import type { ClusterStatus, Phase } from '../protocol/messages'
import { seconds } from '../text'

/** The start under way: done phases with the time at which they ended, and the running one with the time so far. */
export function phaseList(status: ClusterStatus, now: number): TemplateResult {
  return html`<ol class="phases">
    ${(status.phases ?? []).map(
      (phase) => html`<li class=${phase.done ? 'done-phase' : 'running'}>
        <span class="phase-mark">${phase.done ? icon('check') : html`<span class="running-mark" aria-hidden="true">›</span>`}</span>
        <span>${phase.says}${phase.done ? html`<span class="visually-hidden">, done</span>` : ''}</span>
        <span class="phase-time">${phase.done && phase.elapsed ? seconds(phase.elapsed) : phase === running(status) ? elapsed(status, now) : ''}</span>
      </li>`,
    )}
  </ol>`
}

export function running(status: ClusterStatus): Phase | undefined {
  return status.phases?.find((phase) => !phase.done)
}

/** Time since the state began. A clock that differs from the server's shows nothing rather than nonsense. */
export function elapsed(status: ClusterStatus, now: number): string {
  const ms = now - Date.parse(status.since)
  return ms >= 0 && ms < 3_600_000 ? seconds(ms * 1e6) : ''
}

export function onItsWay(status: ClusterStatus | undefined): boolean {
  return status !== undefined && ['queued', 'creating', 'starting', 'healing', 'deleting'].includes(status.state)
}
