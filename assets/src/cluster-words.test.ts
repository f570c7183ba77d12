import { describe, expect, test } from 'vitest'
import { facts, title, wentBack } from './cluster-words'
import type { ClusterStatus } from './protocol/messages'
import { recourse } from './recourse'

function status(fields: Partial<ClusterStatus>): ClusterStatus {
  return { id: 'local', backend: 'embedded', state: 'ready', since: '', capabilities: { backend: '', version: '', nodes: 0, realPods: false, logs: false }, ...fields }
}

describe('a cluster in words', () => {
  test('what is under way, of which kind, and how long it takes', () => {
    expect(title(status({ state: 'creating', backend: 'kind' }))).toBe('Making your kind cluster, which takes about half a minute')
    expect(title(status({ state: 'starting' }))).toBe('Starting your embedded cluster with its data')
    expect(title(status({ state: 'queued', position: 3 }))).toContain('number 3')
    expect(title(status({ state: 'queued' }))).not.toContain('number')
  })

  test('a switch that failed is told from a cluster that is ready', () => {
    expect(wentBack(status({}))).toBe(false)
    expect(wentBack(status({ state: 'healing', reason: 'it died' }))).toBe(false)
    const failed = status({ reason: 'switch to kind: no image' })
    expect(wentBack(failed)).toBe(true)
    expect(title(failed)).toBe('You are back on your embedded cluster')
  })

  test('what it is', () => {
    expect(facts(status({ state: 'absent' }))).toBe('embedded')
    expect(facts(status({ capabilities: { backend: 'embedded', version: 'v1.37.2', nodes: 2, realPods: false, logs: false } }))).toBe('embedded · Kubernetes v1.37.2 · 2 nodes, pods are simulated')
    expect(facts(status({ backend: 'kind', capabilities: { backend: 'kind', version: 'v1.37.2', nodes: 1, realPods: true, logs: true } }))).toBe('kind · Kubernetes v1.37.2 · 1 node, real containers')
  })
})

describe('what can be done about a cluster', () => {
  const labels = (fields: Partial<ClusterStatus>, backends = ['embedded', 'kind']) => recourse(status(fields), backends).map((r) => r.label)

  test.each([
    ['ready', []],
    ['frozen', []],
    ['healing', []],
    ['creating', ['Cancel']],
    ['queued', ['Cancel']],
    ['stopped', ['Start', 'Switch to a kind cluster']],
    ['failed', ['Try again', 'Make it anew', 'Switch to a kind cluster']],
  ] as const)('%s', (state, want) => {
    expect(labels({ state })).toEqual(want)
  })

  test('only what the server has', () => {
    expect(labels({ state: 'failed' }, ['embedded'])).toEqual(['Try again', 'Make it anew'])
    expect(labels({ state: 'ready', reason: 'switch to kind: no image' })).toEqual(['Try a kind cluster again', 'Node logs'])
    expect(labels({ state: 'ready', backend: 'kind' })).toEqual(['Node logs'])
    expect(labels({ state: 'failed', backend: 'kind' }, ['embedded'])).toEqual(['Back to the embedded cluster'])
    expect(labels({ state: 'failed', backend: 'kind' })).toContain('Back to the embedded cluster')
  })
})
