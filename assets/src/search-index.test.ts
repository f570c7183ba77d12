import { expect, test } from 'vitest'
import { find, type Entry } from './search-index'

const entry = (title: string, place = '', words = ''): Entry => ({ kind: 'lesson', url: '/', title, place, words, done: false })

const index = [entry('Conditions', 'API machinery', 'how status speaks'), entry('List, then watch', 'API machinery', 'asking once'), entry('Watch a pod start', 'List, then watch'), entry('Rewatching')]

test.each([
  ['watch', ['List, then watch', 'Watch a pod start', 'Rewatching']],
  ['watch pod', ['Watch a pod start']],
  ['STATUS', ['Conditions']],
  ['machinery list', ['List, then watch']],
  ['nothing', []],
  ['   ', []],
])('%s', (query, titles) => {
  expect(find(index, query).map((e) => e.title)).toEqual(titles)
})
