import { tell } from './page-events'
import { singleKeys } from './preferences'

const mac = /Mac|iP(hone|ad)/.test(navigator.platform)

/** The parts of a shortcut as this keyboard names them; "Mod" is Command on a Mac and Ctrl elsewhere. */
export function keyName(shortcut: string): string[] {
  return shortcut.split('+').map((part) => (part === 'Mod' ? (mac ? '⌘' : 'Ctrl') : part))
}

/** Tells whether an event belongs to the page even when a terminal or an editor has the focus. */
export function isPageShortcut(event: KeyboardEvent): boolean {
  return event.key === 'F6' || (event.ctrlKey && event.code === 'Backquote') || isSearch(event)
}

function isSearch(event: KeyboardEvent): boolean {
  // In a terminal, Ctrl+K is the shell's: it cuts to the end of the line.
  const typing = (event.target as HTMLElement).closest('.xterm, .cm-editor') !== null
  return event.key === 'k' && (mac ? event.metaKey : event.ctrlKey && !typing) && !event.shiftKey && !event.altKey
}

function writesInto(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}

/** Listens for the shortcuts that work anywhere on a page. */
export function listenForShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return
    if (isSearch(event)) {
      event.preventDefault()
      tell('search', undefined)
    } else if (singleKeys.on && !writesInto(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey) {
      if (event.key === '/') {
        event.preventDefault()
        tell('search', undefined)
      } else if (event.key === '?') {
        event.preventDefault()
        tell('help', undefined)
      }
    }
  })
}
