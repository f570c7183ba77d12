export interface Entry {
  kind: 'lesson' | 'exercise'
  url: string
  title: string
  place: string
  words: string
  done: boolean
}

/** Reads the lessons and exercises off the home page, so that there is one list of them and not two. */
export async function readIndex(): Promise<Entry[]> {
  const response = await fetch('/', { headers: { Accept: 'text/html' } })
  if (!response.ok) throw new Error(`the home page answered ${response.status}`)
  return entries(new DOMParser().parseFromString(await response.text(), 'text/html'))
}

export function entries(home: Document): Entry[] {
  return [...home.querySelectorAll('[data-search]')].flatMap((item) => {
    const link = item.querySelector('a')
    if (!link) return []
    const exercise = item.getAttribute('data-search') === 'exercise'
    const lesson = item.closest('.lesson-item')
    const place = exercise ? lesson?.querySelector('.lesson-title')?.textContent : item.closest('.track')?.querySelector('h2')?.textContent
    return [
      {
        kind: exercise ? 'exercise' : 'lesson',
        url: link.getAttribute('href') ?? '/',
        title: link.textContent.trim(),
        place: place?.trim() ?? '',
        words: lesson?.querySelector('.lesson-summary')?.textContent.trim() ?? '',
        done: exercise ? item.querySelector(':scope > span') !== null : item.classList.contains('passed'),
      } satisfies Entry,
    ]
  })
}

/** Entries that hold each word of the query, the title's matches first, beginnings of words before their middles. */
export function find(index: Entry[], query: string): Entry[] {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return []
  return index
    .map((entry) => ({ entry, score: wanted.reduce((sum, word) => sum * score(entry, word), 1) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ entry }) => entry)
}

function score(entry: Entry, word: string): number {
  const title = entry.title.toLowerCase()
  if (` ${title}`.includes(` ${word}`)) return 8
  if (title.includes(word)) return 4
  if (entry.place.toLowerCase().includes(word)) return 2
  return entry.words.toLowerCase().includes(word) ? 1 : 0
}
