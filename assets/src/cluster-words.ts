import { about, yours } from './backends'
import type { ClusterState, ClusterStatus } from './protocol/messages'

/** A state at a glance. */
export const words: Record<ClusterState, string> = {
  absent: 'no cluster',
  queued: 'queued',
  creating: 'creating',
  starting: 'starting',
  ready: 'ready',
  frozen: 'asleep',
  healing: 'healing',
  deleting: 'deleting',
  stopped: 'stopped',
  failed: 'failed',
}

/** A state in a sentence. */
export function title(status: ClusterStatus): string {
  const yourCluster = yours(status.backend)
  switch (status.state) {
    case 'absent':
      return `You have no ${status.backend} cluster yet`
    case 'queued':
      return status.position ? `Your cluster waits for its turn to start: it is number ${status.position}` : 'Your cluster waits for its turn to start'
    case 'creating':
      return `Making ${yourCluster}, which takes ${about(status.backend).takes}`
    case 'starting':
      return `Starting ${yourCluster} with its data`
    case 'ready':
      return wentBack(status) ? `You are back on ${yourCluster}` : 'Your cluster is ready'
    case 'frozen':
      return 'Your cluster sleeps, and wakes when you use it'
    case 'healing':
      return 'Your cluster stopped and is being restarted with its data'
    case 'deleting':
      return 'Your cluster is being deleted'
    case 'stopped':
      return 'Your cluster is stopped, with its data kept'
    case 'failed':
      return 'Your cluster does not run, and could not be started'
  }
}

/** A switch to another cluster has failed; the reason says why. */
export function wentBack({ state, reason }: ClusterStatus): boolean {
  return state === 'ready' && reason !== undefined
}

/** What the cluster is, in one line. */
export function facts({ backend, capabilities }: ClusterStatus): string {
  const { version, nodes, realPods } = capabilities
  if (!version) return backend // none is there
  return `${backend} · Kubernetes ${version} · ${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${realPods ? 'real containers' : 'pods are simulated'}`
}
