import { expect, test } from 'vitest'
import { decode, encode, Kind } from './frames'

test('a frame is as docs/protocol.md says, byte for byte', () => {
  const frame = encode(Kind.input, 0x01020304, 0x0506070809, Uint8Array.of(0xff, 0))
  expect([...frame]).toEqual([2, 1, 2, 3, 4, 0, 0, 0, 5, 6, 7, 8, 9, 0xff, 0])
  expect(decode(frame.buffer)).toEqual({ kind: 2, terminal: 0x01020304, offset: 0x0506070809, payload: Uint8Array.of(0xff, 0) })
})

test('what is no frame is refused', () => {
  expect(decode(new ArrayBuffer(12))).toBeUndefined()
  expect(decode(new Uint8Array(13).fill(0xff).buffer)).toBeUndefined() // an offset beyond 2^53
  expect(decode(new ArrayBuffer(13))).toEqual({ kind: 0, terminal: 0, offset: 0, payload: new Uint8Array() })
})
