import { expect, test } from 'vitest'
import { bytes, inline, seconds } from './text'

test('code in backticks is told from words', () => {
  const parts = inline('no Pod `w1` in `api-lab`')
  expect(parts.filter((_, i) => i % 2 === 0)).toEqual(['no Pod ', ' in ', ''])
  expect(parts.length).toBe(5)
  expect(inline('a lone ` stays')).toEqual(['a lone ` stays'])
})

test('durations and sizes', () => {
  expect(seconds(1_449_000_000)).toBe('1.4 s')
  expect(bytes(900 * 1024)).toBe('900 KiB')
  expect(bytes(84 * 1024 * 1024)).toBe('84 MiB')
})
