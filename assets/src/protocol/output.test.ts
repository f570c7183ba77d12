import { expect, test } from 'vitest'
import { OutputCursor } from './output'

const bytes = (...n: number[]) => Uint8Array.from(n)

test('bytes that were drawn before are cut off, and a frame of nothing else is dropped', () => {
  const cursor = new OutputCursor()
  expect(cursor.accept(0, bytes(1, 2, 3))).toEqual({ bytes: bytes(1, 2, 3), missing: 0 })
  expect(cursor.accept(0, bytes(1, 2, 3))).toBeUndefined()
  expect(cursor.accept(2, bytes(3, 4))).toEqual({ bytes: bytes(4), missing: 0 })
  expect(cursor.next).toBe(4)
})

test('bytes that never came are counted', () => {
  const cursor = new OutputCursor()
  cursor.resume(100)
  expect(cursor.accept(110, bytes(1))).toEqual({ bytes: bytes(1), missing: 10 })
})

test('drawn output is reported each 64 KiB, and never backwards', () => {
  const cursor = new OutputCursor()
  expect(cursor.drawn(65_535)).toBeUndefined()
  expect(cursor.drawn(65_536)).toBe(65_536)
  expect(cursor.drawn(1000)).toBeUndefined()
  expect(cursor.drawn(200_000)).toBe(200_000)
  cursor.resume(1_000_000)
  expect(cursor.drawn(1_000_001)).toBeUndefined()
})
