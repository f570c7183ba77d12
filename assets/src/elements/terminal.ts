import '@xterm/xterm/css/xterm.css'
import { FitAddon } from '@xterm/addon-fit'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { Terminal, type ITerminalOptions } from '@xterm/xterm'
import { announce } from '../announce'
import { copy } from '../clipboard'
import { session } from '../page-session'
import { onScheme, screenReaderMode } from '../preferences'
import { TerminalLink } from '../protocol/terminal'
import type { Session } from '../session'
import { isPageShortcut } from '../shortcuts'
import { terminalTheme } from '../terminal-theme'

/** What a terminal says of itself when a program asks: cursor position, attributes, colours. Nobody typed it. */
// eslint-disable-next-line no-control-regex -- escape sequences are what this is about
const report = /^\x1b(\[[?>=]?[\d;]*[cnRuy$]|\]|P)/

/** How long a command waits for a shell's first prompt, in milliseconds. */
const patience = 5000

function options(): ITerminalOptions {
  return {
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    fontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    fontSize: 14,
    lineHeight: 1.25,
    minimumContrastRatio: 4.5,
    macOptionIsMeta: true,
    screenReaderMode: screenReaderMode.on,
    scrollback: 10_000,
    theme: terminalTheme(),
  }
}

/** The size that a terminal in this place will have, so that a shell draws its first prompt for it. */
export function sizeIn(place: HTMLElement): { cols: number; rows: number } {
  const box = document.createElement('div')
  box.className = 'terminal-box'
  const screen = document.createElement('div')
  screen.className = 'terminal-screen'
  box.append(screen)
  place.append(box)
  const xterm = new Terminal(options())
  const fit = new FitAddon()
  xterm.loadAddon(fit)
  xterm.open(screen)
  const size = fit.proposeDimensions()
  xterm.dispose()
  box.remove()
  return size && size.cols > 2 ? size : { cols: 80, rows: 24 }
}

/**
 * One terminal: xterm.js on a TerminalLink. The bench creates it for a terminal of the server and shows or hides it; it
 * is loaded after the text. Plain element: xterm.js owns everything inside.
 */
export class ApilabTerminal extends HTMLElement {
  terminal = 0
  session: Session = session
  /** The terminal is another person's: it keeps their size, and what they print is no link. */
  observing = false
  /** Names what types here; another one for each leave to type. */
  writer = session.writer
  /** What is typed here goes there. */
  typing = true

  private xterm?: Terminal
  private link?: TerminalLink
  private readonly fit = new FitAddon()
  private history = 0
  /** History is on the screen; until then the screen has the sizes that it was written for. */
  private caughtUp = false
  private stops: (() => void)[] = []
  private sent = ''
  private frame = 0
  /** Called when the shell has printed something: its prompt. */
  private begin: () => void = () => undefined
  private readonly begun = new Promise<void>((resolve) => (this.begin = resolve))

  connectedCallback(): void {
    const box = document.createElement('div')
    box.className = 'terminal-box'
    const screen = document.createElement('div')
    screen.className = 'terminal-screen'
    box.append(screen)
    this.replaceChildren(box)
    const xterm = new Terminal(options())
    this.xterm = xterm
    xterm.loadAddon(this.fit)
    if (this.observing) xterm.options.linkHandler = { activate: () => undefined }
    else xterm.loadAddon(new WebLinksAddon((_, address) => window.open(address, '_blank', 'noopener,noreferrer')))
    xterm.open(screen)
    xterm.textarea?.setAttribute('aria-label', this.observing ? 'Terminal of the learner' : `Terminal ${this.terminal}. F6 leads back to the text.`)
    xterm.attachCustomKeyEventHandler((event) => this.key(event))
    xterm.onData((data) => this.typed(data))
    xterm.onBinary((data) => {
      if (this.typing) this.link?.type(Uint8Array.from(data, (c) => c.charCodeAt(0)))
    })
    xterm.onResize(() => this.report())
    this.connect()
    const observer = new ResizeObserver(() => this.refit())
    observer.observe(this)
    this.stops.push(
      () => observer.disconnect(),
      onScheme(() => (xterm.options.theme = terminalTheme())),
    )
    this.refit()
  }

  disconnectedCallback(): void {
    for (const stop of this.stops.splice(0)) stop()
    this.link?.detach()
    this.xterm?.dispose()
    this.xterm = undefined
  }

  override focus(): void {
    this.xterm?.focus()
  }

  /** Types a command as if pasted, and runs it. A new shell is let come to its prompt, or it would echo the command twice. */
  async run(text: string): Promise<void> {
    await Promise.race([this.begun, new Promise((resolve) => setTimeout(resolve, patience))])
    this.xterm?.paste(text)
    this.type('\r')
  }

  paste(text: string): void {
    this.xterm?.paste(text)
    this.focus()
  }

  get selection(): string {
    return this.xterm?.getSelection() ?? ''
  }

  /** The size that the terminal has, where it is another person's. */
  set size({ cols, rows }: { cols: number; rows: number }) {
    if (this.observing && cols > 0 && rows > 0) this.xterm?.resize(cols, rows)
  }

  set screenReader(on: boolean) {
    if (this.xterm) this.xterm.options.screenReaderMode = on
  }

  private connect(): void {
    const link = new TerminalLink(
      this.terminal,
      {
        attach: (from) => this.session.request('term.attach', { terminal: this.terminal, writer: this.writer, from }),
        send: (frame) => this.session.send(frame),
      },
      {
        write: (bytes, history, done) => this.write(bytes, history, done),
        lost: (bytes) => this.xterm?.write(`\r\n\x1b[2m[${bytes} bytes of older output are no longer kept]\x1b[22m\r\n`),
        // Written, so that both take their turn behind what is still to be drawn.
        resize: (cols, rows) => this.xterm?.write('', () => this.xterm?.resize(cols, rows)),
        caughtUp: () =>
          this.xterm?.write('', () => {
            this.caughtUp = true
            this.refit()
          }),
      },
    )
    this.link = link
    const attach = () => {
      if (this.session.connected !== 'open') return
      this.sent = ''
      link.attach().then(
        () => this.report(),
        () => undefined, // the connection went away again, or the terminal is gone; the list of terminals tells
      )
    }
    this.stops.push(
      this.session.receive(this.terminal, (frame) => link.receive(frame)),
      this.session.on('hello', attach),
      this.session.on('connection', () => {
        if (this.session.connected !== 'open') link.detach()
      }),
    )
    attach()
  }

  private write(bytes: Uint8Array, history: boolean, done: () => void): void {
    if (history) this.history++
    this.xterm?.write(bytes, () => {
      this.begin()
      if (history) this.history--
      done()
    })
  }

  private typed(data: string): void {
    // Redrawn history asks questions that were answered when it was new.
    if ((this.history > 0 || this.observing) && report.test(data)) return
    this.type(data)
  }

  private type(data: string): void {
    if (this.typing) this.link?.type(new TextEncoder().encode(data))
  }

  private refit(): void {
    cancelAnimationFrame(this.frame)
    this.frame = requestAnimationFrame(() => {
      if (this.observing || !this.caughtUp || this.clientWidth === 0 || this.clientHeight === 0) return
      this.fit.fit()
      this.report()
    })
  }

  /** Tells the server the size, when it is another than it knows. */
  private report(): void {
    const { cols, rows } = this.xterm ?? { cols: 0, rows: 0 }
    const size = `${cols}x${rows}`
    if (this.observing || !this.caughtUp || size === this.sent || cols === 0 || this.session.connected !== 'open' || this.clientWidth === 0) return
    this.sent = size
    this.session.request('term.resize', { terminal: this.terminal, cols, rows }).catch(() => (this.sent = ''))
  }

  /** False for keys that xterm.js must leave to the browser or the page. */
  private key(event: KeyboardEvent): boolean {
    if (isPageShortcut(event)) return false
    const command = event.metaKey || (event.ctrlKey && event.shiftKey)
    if (command && event.code === 'KeyC') {
      if (event.type === 'keydown' && this.selection) {
        event.preventDefault()
        void copy(this.selection).then(() => announce('Copied'))
      }
      return event.metaKey ? false : !this.selection && !event.shiftKey
    }
    // The browser pastes, and xterm.js takes its paste event.
    return !((event.ctrlKey || event.metaKey) && event.code === 'KeyV') && !(event.shiftKey && event.key === 'Insert')
  }
}

customElements.define('apilab-terminal', ApilabTerminal)
