import { expect, test } from 'vitest'
import { SearchIndex, type Entry } from './search-index'

const entries: Entry[] = [
  { kind: 'lesson', url: '/l/conditions', title: 'Conditions', place: 'API machinery', also: 'How status speaks.' },
  { kind: 'lesson', url: '/l/watch', title: 'List, then watch', place: 'API machinery', also: 'Ask once, then stay.' },
  { kind: 'section', url: '/l/watch#bookmarks', title: 'Bookmarks', place: 'List, then watch', text: 'A watch sends its metadata.resourceVersion now and then, so that it can begin again where it was.' },
  { kind: 'section', url: '/l/watch#a', title: 'Away', place: 'List, then watch', text: 'One watch.' },
  { kind: 'section', url: '/l/watch#b', title: 'Back', place: 'List, then watch', text: 'One watch.' },
  { kind: 'section', url: '/l/watch#c', title: 'Cut', place: 'List, then watch', text: 'One watch.' },
  { kind: 'exercise', url: '/l/watch#exercise', title: 'Watch a Pod start', place: 'List, then watch', text: 'Open a watch.' },
  { kind: 'term', url: '/glossary#finalizer', title: 'finalizer', place: 'Glossary', text: 'A word in the metadata that holds a deletion until somebody takes it away.' },
]
const index = new SearchIndex(entries)
const titles = (query: string) => index.find(query).map((hit) => hit.entry.title)

test.each([
  ['condition', 'Conditions'],
  ['STATUS', 'Conditions'],
  ['bookm', 'Bookmarks'],
  ['finaliser', 'finalizer'], // one letter off
  ['resource version', 'Bookmarks'], // the words of a name
  ['resourceversion', 'Bookmarks'],
  ['machinery list', 'List, then watch'],
  ['watch pod', 'Watch a Pod start'],
  ['how does a finalizer work', 'finalizer'], // nothing holds all of it
  ['what is a finalizer?', 'finalizer'], // words that nearly every text has are not asked for
  ['"so that"', 'Bookmarks'], // unless there are no others
  ['"begin again where"', 'Bookmarks'],
  ['“holds a deletion” word', 'finalizer'],
  ['"one watch" away', 'Away'],
])('%s finds %s first', (query, title) => {
  expect(titles(query)[0]).toBe(title)
})

test('a page that has all words in different places comes before one that has some', () => {
  expect(titles('bookmarks stay').sort()).toEqual(['Bookmarks', 'List, then watch']) // both of one page, and nothing else
  expect(titles('conditions zebra')[0]).toBe('Conditions')
})

test('finds nothing for nothing', () => {
  for (const query of ['', '   ', 'zebra', '…', '"', '""', '"watch one"']) expect(titles(query)).toEqual([])
})

test('titles come before text, and one page does not fill the list', () => {
  const found = titles('watch')
  expect(found.slice(0, 2).sort()).toEqual(['List, then watch', 'Watch a Pod start'])
  expect(index.find('watch').filter((hit) => hit.entry.kind === 'section')).toHaveLength(3)
})

test('shows where in a text the words are', () => {
  const [hit] = index.find('begin again')
  expect(hit?.entry.title).toBe('Bookmarks')
  expect(hit?.excerpt.filter((part) => part.hit).map((part) => part.text)).toEqual(['begin', 'again'])
  expect(hit?.excerpt.map((part) => part.text).join('')).toContain('so that it can begin again')
  const long = new SearchIndex([{ kind: 'section', url: '/', title: 'T', text: `${'word '.repeat(90)}needle ${'more '.repeat(90)}` }])
  const text = long.find('needle')[0]?.excerpt.map((part) => part.text).join('') ?? ''
  expect(text).toMatch(/^… word .*needle .* …$/)
  expect(text.length).toBeLessThan(160)
})
