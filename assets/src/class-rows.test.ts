import { expect, test } from 'vitest'
import { blocks, brief, byExercise, filters, idle, level, matches, orders, sentence, sorted, span, stuck, type Filter, type Order } from './class-rows'
import type { Cell, Row } from './protocol/class-messages'

const now = Date.parse('2026-11-30T12:00:00Z')
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString()

function row(seat: number, change: Partial<Row> = {}): Row {
  return { learner: `l-${seat}`, name: `Learner ${seat}`, seat, pages: 1, busy: 0, lesson: '', cluster: 'ready', passed: 0, cells: [], active: ago(0), ...change }
}

const rows = [
  row(1, { name: 'Zoe', passed: 4 }),
  row(2, { name: 'ada', stuck: ago(7), passed: 2 }),
  row(3, { name: 'Bob', stuck: ago(2), active: ago(9) }),
  row(4, { name: 'Cy', handAt: ago(1), passed: 3 }),
  row(5, { name: 'Dan', handAt: ago(3), stuck: ago(1) }),
  row(6, { name: 'Eve', pages: 0, stuck: ago(600), active: ago(500) }),
]

test.each<[Filter, number[]]>([
  ['all', [1, 2, 3, 4, 5, 6]],
  ['stuck', [2, 6]],
  ['hand', [4, 5]],
  ['idle', [3]],
  ['away', [6]],
])('filter %s', (filter, seats) => {
  expect(Object.keys(filters)).toContain(filter)
  expect(rows.filter((r) => matches(r, filter, now)).map((r) => r.seat)).toEqual(seats)
})

test.each<[Order, number[]]>([
  ['help', [5, 4, 2, 3, 1, 6]],
  ['name', [2, 3, 4, 5, 6, 1]],
  ['progress', [3, 5, 6, 2, 4, 1]],
  ['idle', [3, 1, 2, 4, 5, 6]],
  ['seat', [1, 2, 3, 4, 5, 6]],
])('order by %s', (order, seats) => {
  expect(Object.keys(orders)).toContain(order)
  expect(sorted([...rows].reverse(), order, now).map((r) => r.seat)).toEqual(seats)
})

test('who has not been here since the server started is not idle', () => {
  const fresh = row(1)
  delete fresh.active
  expect(idle(fresh, now)).toBe(0)
  expect(stuck(fresh, now)).toBe(0)
})

test.each<[Cell, number]>([
  [{ state: 'failing' }, 0],
  [{ state: 'failing', since: ago(1.9) }, 0],
  [{ state: 'failing', since: ago(2) }, 1],
  [{ state: 'failing', since: ago(5) }, 2],
  [{ state: 'broken', since: ago(10) }, 3],
  [{ state: 'passing', since: ago(60) }, 0],
])('level of %o is %i', (cell, want) => {
  expect(level(cell, now)).toBe(want)
})

test.each([
  [0, 'under 1 min', '0m'],
  [59, '59 min', '59m'],
  [60, '1 h', '1h'],
  [80, '1 h 20 min', '1h'],
  [24 * 60, '1 day', '1d'],
  [50 * 60, '2 days', '2d'],
])('%i minutes', (minutes, long, short) => {
  expect(span(minutes * 60_000)).toBe(long)
  expect(brief(minutes * 60_000)).toBe(short)
})

test('a cell in words', () => {
  expect(sentence({ state: 'failing', since: ago(3) }, now)).toBe('not yet, for 3 min')
  expect(sentence({ state: 'failing' }, now)).toBe('not yet, not tried')
  expect(sentence({ state: 'passing', since: ago(3) }, now)).toBe('passed 3 min ago')
  expect(sentence({ state: 'closed' }, now)).toBe('not opened')
})

test('columns are grouped by exercise', () => {
  const column = (exercise: string, check: string) => ({ exercise, title: exercise, check, says: '' })
  const groups = byExercise([column('a', '1'), column('a', '2'), column('b', '1')])
  expect(groups.map((g) => [g.exercise, g.first, g.columns.length])).toEqual([
    ['a', 0, 2],
    ['b', 2, 1],
  ])
})

test('blocks have one length', () => {
  expect(blocks([1, 2, 3, 4, 5], 2)).toEqual([[1, 2, 3], [4, 5]])
  expect(blocks([], 3)).toEqual([])
  expect(blocks([1], 3)).toEqual([[1]])
})
