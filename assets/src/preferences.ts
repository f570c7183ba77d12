// What the browser remembers. Scheme and split are cookies, because the server draws them into the first paint.

export type Scheme = 'system' | 'light' | 'dark'

const year = 365 * 24 * 60 * 60

function cookie(name: string, value: string): void {
  document.cookie = `${name}=${value}; Path=/; SameSite=Strict; Max-Age=${value ? year : 0}`
}

export function scheme(): Scheme {
  return (document.documentElement.dataset.scheme as Scheme | undefined) ?? 'system'
}

export function setScheme(value: Scheme): void {
  if (value === 'system') delete document.documentElement.dataset.scheme
  else document.documentElement.dataset.scheme = value
  cookie('apilab-scheme', value === 'system' ? '' : value)
  dispatchEvent(new Event('apilab:scheme'))
}

/** Calls when the colours change, by choice or by the system. */
export function onScheme(changed: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  addEventListener('apilab:scheme', changed)
  system.addEventListener('change', changed)
  return () => {
    removeEventListener('apilab:scheme', changed)
    system.removeEventListener('change', changed)
  }
}

export const defaultSplit = 46

export function split(): number {
  return Number.parseFloat(document.documentElement.style.getPropertyValue('--split')) || defaultSplit
}

export function setSplit(percent: number): void {
  document.documentElement.style.setProperty('--split', `${percent}%`)
}

export function rememberSplit(percent: number): void {
  cookie('apilab-split', String(Math.round(percent)))
}

/** On or off, kept in local storage; a browser that keeps nothing gets the default. */
export class Switch {
  constructor(
    private readonly key: string,
    private readonly initially: boolean,
  ) {}

  get on(): boolean {
    try {
      const value = localStorage.getItem(`apilab.${this.key}`)
      return value === null ? this.initially : value === 'on'
    } catch {
      return this.initially
    }
  }

  set on(value: boolean) {
    try {
      localStorage.setItem(`apilab.${this.key}`, value ? 'on' : 'off')
    } catch {
      // A private window may refuse; the choice then lasts as long as the page.
    }
  }
}

export const screenReaderMode = new Switch('screen-reader', false)
export const singleKeys = new Switch('single-keys', true)
