// What elements of one page ask of each other, without knowing each other.

export interface PageEvents {
  /** Type a command into a terminal and run it: into the one at a place, from 1, or into the one in front. */
  run: { text: string; place?: number; done: (where: string) => void }
  /** Bring the workbench forward; focus says whether the terminal takes the keyboard. */
  workbench: { focus: boolean }
  search: undefined
  help: undefined
}

export function tell<T extends keyof PageEvents>(type: T, detail: PageEvents[T]): void {
  dispatchEvent(new CustomEvent(`apilab:${type}`, { detail }))
}

export function hear<T extends keyof PageEvents>(type: T, listener: (detail: PageEvents[T]) => void): () => void {
  const listen = (event: Event) => listener((event as CustomEvent<PageEvents[T]>).detail)
  addEventListener(`apilab:${type}`, listen)
  return () => removeEventListener(`apilab:${type}`, listen)
}
