import { about, yours } from './backends'
import { confirm } from './elements/confirm'
import { session } from './page-session'
import type { ClusterStatus } from './protocol/messages'
import { sentence } from './text'

// What a learner does about their cluster. The outcome is the cluster's status; what is refused becomes a notice.

/** Claims the cluster, or tries again where it failed. */
export function start(): Promise<void> {
  return ask('started', session.request('cluster.start', {}))
}

/** Gives a start under way up. A switch goes back to the cluster that there was before. */
export function cancel(): Promise<void> {
  return ask('given up', session.request('cluster.cancel', {}))
}

export function switchTo(backend: string): Promise<void> {
  return ask('switched', session.request('cluster.switch', { backend }))
}

/** Deletes the cluster and makes a new one, if the learner says so. */
export async function reset({ backend }: ClusterStatus): Promise<void> {
  const go = await confirm({
    title: 'Reset your cluster?',
    text: `Everything in ${yours(backend)} is deleted and a new one is made, which takes ${about(backend).takes}. Your files and your progress stay.`,
    action: 'Reset cluster',
    danger: true,
  })
  if (go) await ask('reset', session.request('cluster.reset', {}))
}

/** Makes every kubeconfig useless that the learner got before, if they say so. */
export async function revokeKubeconfig(): Promise<void> {
  const go = await confirm({
    title: 'Revoke your kubeconfig?',
    text: 'Every kubeconfig that you have copied or downloaded stops working at once, with all that runs on it. Terminals in the page go on, and you can get a new kubeconfig.',
    action: 'Revoke kubeconfig',
    danger: true,
  })
  if (!go) return
  try {
    await session.request('kubeconfig', { renew: true })
    session.notify('info', 'The kubeconfigs of before no longer work. Copy or download a new one in the menu of your cluster.')
  } catch (error) {
    session.notify('error', `Your kubeconfig was not revoked. ${sentence(error)}`)
  }
}

async function ask(what: string, request: Promise<unknown>): Promise<void> {
  try {
    await request
  } catch (error) {
    session.notify('error', `The cluster was not ${what}. ${sentence(error)}`)
  }
}
