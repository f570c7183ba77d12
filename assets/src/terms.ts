// The terms of the glossary in a lesson's text. The server draws each as a link to the glossary, and describes it by the
// list at the end of the page; here the link becomes a button that shows the same text beside the word.

const gap = 8
const hoverIn = 200
const hoverOut = 300

/** One card for all terms of the page. It stands behind its term in the document, so that Tab leads into it. */
class TermCard {
  private readonly card = document.createElement('div')
  private link: HTMLAnchorElement | undefined
  private pinned = false
  private closing = false
  private timer = 0

  constructor() {
    this.card.id = 'term-card'
    this.card.className = 'term-card'
    this.card.popover = 'manual'
    document.addEventListener('pointerover', this.over)
    document.addEventListener('pointerout', this.out)
    document.addEventListener('focusin', this.focus)
    document.addEventListener('click', this.click)
    document.addEventListener('keydown', this.key)
    document.addEventListener('pointerdown', this.down)
  }

  /** What is in the card counts as its term: it may be pointed at, and holds a link. */
  private termAt(target: EventTarget | null): HTMLAnchorElement | undefined {
    const term = target instanceof Element ? target.closest('.term') : null
    return term?.querySelector<HTMLAnchorElement>(':scope > a') ?? undefined
  }

  private over = (event: PointerEvent): void => {
    if (event.pointerType !== 'mouse') return
    const link = this.termAt(event.target)
    if (!link) return
    clearTimeout(this.timer)
    if (link !== this.link) this.timer = window.setTimeout(() => this.show(link, event), this.link ? 0 : hoverIn)
  }

  private out = (event: PointerEvent): void => {
    if (event.pointerType !== 'mouse' || !this.termAt(event.target) || this.termAt(event.relatedTarget) === this.link) return
    clearTimeout(this.timer)
    if (!this.pinned && !this.card.parentElement?.contains(document.activeElement)) this.timer = window.setTimeout(() => this.hide(), hoverOut)
  }

  private focus = (event: FocusEvent): void => {
    const link = this.termAt(event.target)
    if (link === this.link || this.closing) return
    if (link?.matches(':focus-visible')) this.show(link)
    else this.hide()
  }

  private click = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('.term > a') : null
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    const byKeyboard = event.detail === 0
    if (link === this.link && (this.pinned || byKeyboard)) {
      this.hide()
      return
    }
    this.show(link, event)
    this.pinned = true
  }

  private key = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && this.link) {
      const link = this.link
      const inside = this.card.contains(document.activeElement)
      this.hide()
      this.closing = true // the focus that comes back to the word does not open it again
      if (inside) link.focus()
      this.closing = false
    } else if (event.key === ' ' && event.target instanceof Element && event.target.matches('.term > a')) {
      event.preventDefault() // a button takes the space bar too
      ;(event.target as HTMLElement).click()
    }
  }

  private down = (event: PointerEvent): void => {
    if (this.link && this.termAt(event.target) !== this.link) this.hide()
  }

  private show(link: HTMLAnchorElement, at?: { clientX: number; clientY: number }): void {
    clearTimeout(this.timer)
    const described = document.getElementById(link.getAttribute('aria-describedby') ?? '')
    if (!described) return
    this.hide()
    this.link = link
    const name = document.createElement('strong')
    name.textContent = described.previousElementSibling?.textContent ?? ''
    const more = document.createElement('a')
    more.href = link.href
    more.textContent = 'Glossary'
    const text = document.createElement('span')
    text.append(...[...described.childNodes].map((node) => node.cloneNode(true)))
    this.card.replaceChildren(name, text, more)
    link.after(this.card)
    link.setAttribute('aria-expanded', 'true')
    this.card.showPopover()
    this.place(at)
    addEventListener('scroll', this.follow, { passive: true, capture: true })
    addEventListener('resize', this.follow)
  }

  private hide(): void {
    clearTimeout(this.timer)
    this.pinned = false
    if (!this.link) return
    this.link.setAttribute('aria-expanded', 'false')
    this.link = undefined
    if (this.card.matches(':popover-open')) this.card.hidePopover()
    this.card.remove()
    removeEventListener('scroll', this.follow, { capture: true })
    removeEventListener('resize', this.follow)
  }

  private follow = (): void => this.place()

  /** Below the word, or above where there is no room; on the line that is pointed at if the word is on two. */
  private place(at?: { clientX: number; clientY: number }): void {
    if (!this.link) return
    const lines = [...this.link.getClientRects()]
    const line = (at && lines.find((r) => at.clientY >= r.top - 2 && at.clientY <= r.bottom + 2)) ?? lines[0]
    if (!line) return
    const { width, height } = this.card.getBoundingClientRect()
    const view = document.documentElement
    const left = Math.max(gap, Math.min(line.left - gap, view.clientWidth - width - gap))
    const below = line.bottom + gap / 2
    const top = below + height <= innerHeight - gap || line.top < height + gap ? below : line.top - height - gap / 2
    this.card.style.left = `${Math.round(left)}px`
    this.card.style.top = `${Math.round(top)}px`
  }
}

export function explainTerms(): void {
  const links = document.querySelectorAll<HTMLAnchorElement>('.term > a')
  if (links.length === 0) return
  new TermCard()
  for (const link of links) {
    link.setAttribute('role', 'button')
    link.setAttribute('aria-expanded', 'false')
  }
}
