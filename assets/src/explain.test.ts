import { describe, expect, test } from 'vitest'
import { capital, proof, seen } from './explain'
import type { CheckStatus } from './protocol/messages'

test.each([
  ['not answered yet', 'Not answered yet'],
  ['`object` is null', '`object` is null'],
  ['kubectl sent this list. Do it with curl.', 'kubectl sent this list. Do it with curl.'],
  ['spec.replicas is 1; expected 3', '`spec.replicas` is 1; expected 3'],
  ['status.conditions[0].type is "Ready"', '`status.conditions[0].type` is "Ready"'],
  ['in your GET /api: events is empty', 'In your GET /api: events is empty'],
  ['', ''],
])('a sentence begins with a capital, but not a path and not kubectl: %s', (text, want) => {
  expect(capital(text)).toBe(want)
})

test.each([
  ['spec.replicas is 1; expected 3', 'object.spec.replicas', '1', undefined],
  ['There are no Roles in api-lab yet', 'objects', '[]', undefined],
  ['status.message is not set', 'object.status.message', 'nothing', undefined],
  ['Annotations have no key "a"', 'object.metadata.annotations', '{b: "c"}', { field: 'object.metadata.annotations', saw: '{b: "c"}' }],
  ['Query has no key "a"', 'request.query', `{b: "${'c'.repeat(60)}…`, undefined],
  ['Not answered yet', undefined, undefined, undefined],
])('the operand is shown once: %s', (why, field, saw, want) => {
  expect(seen({ why, field, saw } as CheckStatus)).toEqual(want)
})

describe('evidence is one short line', () => {
  test('of a request, with its status', () => {
    expect(
      proof('request', {
        resource: 'configmaps',
        namespace: 'api-lab',
        request: 'GET /api/v1/namespaces/api-lab/configmaps',
        text: 'your GET /api/v1/namespaces/api-lab/configmaps, answered 200',
      }),
    ).toEqual({ code: 'GET /api/v1/namespaces/api-lab/configmaps', after: ' → 200' })
  })

  test('of a write, without what kubectl always adds; a watch keeps its parameters', () => {
    expect(proof('request', { request: 'PATCH /p?fieldManager=kubectl-annotate&fieldValidation=Strict', text: 'answered 200' })?.code).toBe('PATCH /p')
    expect(proof('request', { request: 'PATCH /p?fieldManager=mine&force=true' })).toEqual({ code: 'PATCH /p?fieldManager=mine&force=true' })
    expect(proof('request', { request: 'GET /p?resourceVersion=1&timeoutSeconds=5&watch=1', text: 'answered 410' })).toEqual({ code: 'GET /p?resourceVersion=1&watch=1', after: ' → 410' })
  })

  test('of an object, which its text names', () => {
    expect(proof('object', { resource: 'pods', namespace: 'api-lab', name: 'quiet', resourceVersion: '638', text: 'Pod quiet in api-lab' })).toEqual({ text: 'Pod quiet in api-lab', version: '638' })
    expect(proof('object', { resource: 'pods', namespace: 'api-lab', name: 'quiet' })).toEqual({ code: 'pods quiet', after: ' in api-lab' })
  })

  test('of a choice why it is right; of an answer nothing, for it stands in its field', () => {
    expect(proof('choice', { text: 'All three verbs are GET.' })).toEqual({ text: 'All three verbs are GET.' })
    expect(proof('answer', { text: '6765ae25' })).toBeUndefined()
    expect(proof('history', {})).toBeUndefined()
  })
})
