import { expect, test } from 'vitest'
import { isWhole } from './placeholder'

test.each([
  ['kubectl get pods -A', true],
  ["curl -H 'Accept: application/json;as=Table' localhost:8001/api", true],
  ['kubectl auth whoami', true],
  ['kubectl get X -v=6', false],
  ['kubectl explain X.spec.field', false],
  ['kubectl get pods -n N', false],
  ['kubectl get --raw /apis/GROUP/VERSION', false],
  ['kubectl get pods/<name>', false],
  ['curl "localhost:8001/api?resourceVersion=$RV"', false],
  ['curl localhost:8001/…', false],
])('%s can run: %s', (command, whole) => {
  expect(isWhole(command)).toBe(whole)
})
