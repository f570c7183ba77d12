import { expect, test } from 'vitest'
import { InputLog } from './input'

const text = (s: string) => new TextEncoder().encode(s)

test('a long paste goes in pieces with offsets that join', () => {
  const pieces = new InputLog().push(new Uint8Array(40_000))
  expect(pieces.map((p) => [p.offset, p.bytes.length])).toEqual([
    [0, 16384],
    [16384, 16384],
    [32768, 7232],
  ])
})

test('an acknowledgement in the middle of a chunk keeps the rest', () => {
  const log = new InputLog()
  log.push(text('kubectl'))
  log.push(text(' get'))
  log.ack(3)
  expect(log.unacknowledged).toBe(8)
  expect(log.resume(3)).toEqual([
    { offset: 3, bytes: text('ectl') },
    { offset: 7, bytes: text(' get') },
  ])
  log.ack(11)
  expect(log.unacknowledged).toBe(0)
})

test('after a reconnect only what the server has not taken is sent again', () => {
  const log = new InputLog()
  log.push(text('abcdef'))
  expect(log.resume(4)).toEqual([{ offset: 4, bytes: text('ef') }])
  expect(log.resume(6)).toEqual([])
  expect(log.push(text('g'))).toEqual([{ offset: 6, bytes: text('g') }])
})

test.each([
  ['forgot what it had acknowledged', 0],
  ['claims what was never typed', 90],
])('a server that %s gets nothing typed twice, and counting goes on from there', (_, acked) => {
  const log = new InputLog()
  log.push(text('abcdef'))
  log.ack(5)
  expect(log.resume(acked)).toEqual([])
  expect(log.push(text('x'))).toEqual([{ offset: acked, bytes: text('x') }])
})

test('an acknowledgement that comes late changes nothing', () => {
  const log = new InputLog()
  log.push(text('abc'))
  log.ack(3)
  log.ack(1)
  expect(log.resume(3)).toEqual([])
})
