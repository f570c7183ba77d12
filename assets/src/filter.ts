/** What a filter shows or hides as a whole: a row, a list's item, a paragraph with the code below it. */
interface Unit {
  elements: HTMLElement[]
  words: string
}

/** A heading, table or list goes when nothing of what it holds is left. */
interface Frame {
  element: HTMLElement
  units: Unit[]
}

/** The text of a page in the pieces that a filter narrows it to. */
export class Outline {
  readonly units: Unit[] = []
  private readonly frames: Frame[] = []

  constructor(body: HTMLElement) {
    let open: (Frame & { level: number })[] = [] // headings, outer ones first
    const add = (element: HTMLElement, holder?: Frame): Unit => {
      const unit = { elements: [element], words: [...open.map((heading) => heading.element), element].map(text).join(' ') }
      this.units.push(unit)
      for (const heading of open) heading.units.push(unit)
      holder?.units.push(unit)
      return unit
    }
    const frame = (element: HTMLElement): Frame => {
      const made = { element, units: [] }
      this.frames.push(made)
      return made
    }
    let lead: { unit: Unit; of: Element | null } | undefined // a paragraph that the block after it belongs to
    for (const child of body.children as HTMLCollectionOf<HTMLElement>) {
      const level = /^H([2-4])$/.exec(child.tagName)?.[1]
      if (level) {
        open = open.filter((heading) => heading.level < Number(level))
        open.push(Object.assign(frame(child), { level: Number(level) }))
        continue
      }
      const items = child.querySelectorAll<HTMLElement>(':scope > table > tbody > tr, :scope > li')
      if (items.length > 0) {
        const holder = frame(child)
        for (const item of items) add(item, holder)
        continue
      }
      if (lead?.of === child.previousElementSibling && /^(APILAB-(CODE|RUN)|FIGURE)$/.test(child.tagName)) {
        lead.unit.elements.push(child)
        lead.unit.words += ` ${text(child)}`
        continue
      }
      const unit = add(child)
      if (child.tagName === 'P') lead = { unit, of: child }
    }
  }

  /** Leaves what holds all words of the query, together with the headings above it; returns how many units that are. */
  narrow(query: string): number {
    const wanted = query.toLowerCase().split(/\s+/).filter(Boolean)
    const left = new Set(this.units.filter((unit) => wanted.every((word) => unit.words.includes(word))))
    for (const unit of this.units) for (const element of unit.elements) element.hidden = !left.has(unit)
    for (const { element, units } of this.frames) element.hidden = units.length > 0 && !units.some((unit) => left.has(unit))
    return left.size
  }
}

function text(element: Element): string {
  return element.textContent.replace(/\s+/g, ' ').toLowerCase()
}
