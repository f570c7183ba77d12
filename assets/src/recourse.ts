import { about } from './backends'
import { wentBack } from './cluster-words'
import type { ClusterStatus } from './protocol/messages'

/** Something to do about a cluster that cannot be used, in the order in which it is offered. */
export type Recourse = { does: 'start' | 'cancel' | 'renew' | 'logs'; label: string } | { does: 'switch'; to: string; label: string }

/** What a learner can do about their cluster as it stands. Backends are those that the server offers. */
export function recourse(status: ClusterStatus, backends: string[]): Recourse[] {
  const others = backends.filter((backend) => backend !== status.backend)
  const elsewhere = others.map((to): Recourse => ({ does: 'switch', to, label: `${to === backends[0] ? 'Back' : 'Switch'} to ${about(to).name}` }))
  const logs: Recourse[] = status.backend === 'kind' || wentBack(status) ? [{ does: 'logs', label: 'Node logs' }] : []
  switch (status.state) {
    case 'queued':
    case 'creating':
    case 'starting':
      return [{ does: 'cancel', label: 'Cancel' }]
    case 'absent':
    case 'stopped':
      return [{ does: 'start', label: 'Start' }, ...elsewhere]
    case 'failed':
      if (!backends.includes(status.backend)) return elsewhere // it was there in an earlier run of the server
      return [{ does: 'start', label: 'Try again' }, { does: 'renew', label: 'Make it anew' }, ...elsewhere, ...logs]
    case 'ready':
      return [...(wentBack(status) ? others.map((to): Recourse => ({ does: 'switch', to, label: `Try ${about(to).name} again` })) : []), ...logs]
    default:
      return []
  }
}
