/** What the page says of one kind of cluster. */
interface Backend {
  /** In a sentence: "Switch to …". */
  name: string
  /** How long a switch to it takes. */
  takes: string
  /** What a learner has there and not in the others. */
  has: string
}

const backends: Record<string, Backend> = {
  embedded: { name: 'the embedded cluster', takes: 'a few seconds', has: 'Light and quick; pods are simulated' },
  kind: { name: 'a kind cluster', takes: 'about half a minute', has: 'Real nodes: containers really run' },
}

/** One that this page does not know yet is called by its name. */
export function about(backend: string): Backend {
  return backends[backend] ?? { name: `a cluster of the kind ${backend}`, takes: 'a moment', has: '' }
}

/** The learner's own, in a sentence: "your embedded cluster". */
export function yours(backend: string): string {
  return `your ${backend} cluster`
}
