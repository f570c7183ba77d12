import { expect, test } from 'vitest'
import { Backoff } from './backoff'

test('waits double from 250 ms to 5 s, and begin anew after a success', () => {
  const slowest = new Backoff(() => 1)
  expect(Array.from({ length: 7 }, () => slowest.next())).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000])
  slowest.reset()
  expect(slowest.next()).toBe(250)
})

test('chance shortens a wait, by no more than two fifths', () => {
  expect(new Backoff(() => 0).next()).toBe(150)
})
