import MiniSearch, { type SearchResult } from 'minisearch'
import stopWords from './stop-words.json'

/** One thing that can be found; server/search.go makes the list. */
export interface Entry {
  kind: 'track' | 'lesson' | 'section' | 'exercise' | 'term' | 'reference'
  url: string
  title: string
  place?: string
  also?: string
  text?: string
  /** It needs real nodes. */
  real?: boolean
}

/** A piece of a result's text; what was looked for stands out. */
export interface Part {
  text: string
  hit: boolean
}

export interface Hit {
  entry: Entry
  title: Part[]
  excerpt: Part[]
}

/** Sections of one page among the results: the page's other places are found from there. */
const mostOfPage = 3

/** Characters of an excerpt, about two lines. */
const excerptLength = 140

const weight: Record<Entry['kind'], number> = { term: 1.5, lesson: 1.4, reference: 1.3, track: 1.2, exercise: 1.1, section: 1 }

/** Everything that can be found, ranked by title, then heading, then text. It forgives a slip in a longer word. */
export class SearchIndex {
  private readonly mini: MiniSearch<Entry & { id: number }>

  constructor(readonly entries: Entry[]) {
    this.mini = new MiniSearch({
      fields: ['title', 'also', 'place', 'text'],
      processTerm: (word) => parts(word),
      searchOptions: {
        processTerm: (word) => word.toLowerCase(),
        boost: { title: 6, also: 2, place: 1 },
        boostDocument: (id) => weight[entries[id as number]?.kind ?? 'section'],
        prefix: true,
        fuzzy: (word) => (word.length > 4 ? 0.2 : false),
        weights: { prefix: 0.5, fuzzy: 0.25 },
      },
    })
    this.mini.addAll(entries.map((entry, id) => ({ ...entry, id })))
  }

  /**
   * What holds all words of the query, then what is on a page that holds all of them in different places; if there is
   * neither, what holds some. All phrases in double quotes have to be there. server/finder.go has the same rules.
   */
  find(query: string, most = 12): Hit[] {
    const { words, phrases } = parse(query)
    if (words.length === 0) return []
    const found = this.mini.search(words.join(' '), { combineWith: 'OR', filter: (result) => phrases.every((phrase) => whole(this.entries[result.id as number]).includes(phrase)) })
    const onPage = new Map<string, Set<string>>()
    for (const result of found) {
      const page = this.page(result)
      onPage.set(page, new Set([...(onPage.get(page) ?? []), ...result.queryTerms]))
    }
    const rank = (result: SearchResult) => (new Set(result.queryTerms).size === words.length ? 0 : onPage.get(this.page(result))?.size === words.length ? 1 : 2)
    const ranked = found.map((result) => ({ result, rank: rank(result) })).sort((a, b) => a.rank - b.rank || b.result.score - a.result.score)
    const results = ranked.filter((r) => r.rank < 2 || ranked[0]?.rank === 2).map((r) => r.result)
    const hits: Hit[] = []
    const ofPage = new Map<string, number>()
    for (const result of results) {
      const entry = this.entries[result.id as number]
      if (!entry) continue
      if (entry.kind === 'section') {
        const page = this.page(result)
        const n = ofPage.get(page) ?? 0
        if (n === mostOfPage) continue
        ofPage.set(page, n + 1)
      }
      const words = result.terms
      hits.push({ entry, title: highlight(entry.title, words), excerpt: excerpt(entry, result) })
      if (hits.length === most) break
    }
    return hits
  }

  private page(result: SearchResult): string {
    return this.entries[result.id as number]?.url.split('#')[0] ?? ''
  }
}

/** The words of a query, without those that nearly every text has, unless there are no others; and its phrases in double quotes. */
function parse(query: string): { words: string[]; phrases: string[] } {
  const text = query.toLowerCase()
  const phrases = [...text.matchAll(/["“”„]([^"“”„]*)["“”„]?/g)].map((match) => spaced(match[1] ?? '')).filter(Boolean)
  const all = [...new Set(text.match(/[\p{L}\p{N}]+/gu))]
  const telling = all.filter((word) => !stopWords.includes(word))
  return { words: telling.length ? telling : all, phrases }
}

/** All of an entry, for phrases, which do not go from one field into the next. */
function whole(entry?: Entry): string {
  return [entry?.title, entry?.also, entry?.place, entry?.text].map((field = '') => spaced(field.toLowerCase())).join('\n')
}

function spaced(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

export async function loadIndex(): Promise<SearchIndex> {
  const response = await fetch('/search.json')
  if (!response.ok) throw new Error(`the search index answered ${response.status}`)
  return new SearchIndex((await response.json()) as Entry[])
}

/** A word as it is found: resourceVersion also as resource and as version. */
function parts(word: string): string[] {
  const split = word.match(/[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+/g) ?? []
  const whole = word.toLowerCase()
  return split.length > 1 ? [whole, ...split.map((part) => part.toLowerCase()).filter((part) => part.length > 2)] : [whole]
}

/** Some of the text: of a term its beginning, else the place where a word was found. */
function excerpt(entry: Entry, result: SearchResult): Part[] {
  const text = (entry.text ?? '').replace(/\s+/g, ' ')
  const words = Object.keys(result.match).filter((word) => result.match[word]?.includes('text'))
  if (entry.kind === 'term') return highlight(cut(text, 0), words)
  if (words.length === 0) return []
  const at = pattern(words).exec(text)?.index ?? -1
  return at < 0 ? [] : highlight(cut(text, at), words)
}

/** About excerptLength characters around a place, from the beginning of a word to the end of one. */
function cut(text: string, at: number): string {
  let from = at < excerptLength / 2 ? 0 : text.indexOf(' ', at - excerptLength / 3) + 1
  if (from > at) from = at
  if (text.length - from <= excerptLength) return (from ? '… ' : '') + text.slice(from)
  const to = text.lastIndexOf(' ', from + excerptLength)
  return `${from ? '… ' : ''}${text.slice(from, to > at ? to : from + excerptLength)} …`
}

function highlight(text: string, words: string[]): Part[] {
  if (words.length === 0) return [{ text, hit: false }]
  return text
    .split(pattern(words, 'gi'))
    .map((part, i) => ({ text: part, hit: i % 2 === 1 }))
    .filter((part) => part.text !== '')
}

/** The words where they begin one: at a boundary, or at a capital letter inside of a name. */
function pattern(words: string[], flags = 'i'): RegExp {
  const longest = [...words].sort((a, b) => b.length - a.length).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`(?<![\\p{L}\\p{N}])(${longest.join('|')})`, `${flags}u`)
}
