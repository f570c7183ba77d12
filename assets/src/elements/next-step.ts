export interface NextStep {
  href: string
  label: string
  follow: (event: Event) => void
}

/** Where to go from a finished exercise: the next card that is not done, else the next lesson. */
export function nextStep(exercise: HTMLElement): NextStep | undefined {
  const cards = [...document.querySelectorAll<HTMLElement>('apilab-exercise')]
  const card = cards.slice(cards.indexOf(exercise) + 1).find((c) => !c.hasAttribute('passed'))
  if (card) {
    return {
      href: `#${card.id}`,
      label: 'Next exercise',
      follow(event) {
        event.preventDefault()
        card.scrollIntoView({ behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth', block: 'start' })
        const title = card.querySelector<HTMLElement>('h3')
        title?.setAttribute('tabindex', '-1')
        title?.focus({ preventScroll: true })
        history.replaceState(null, '', `#${card.id}`)
      },
    }
  }
  const lesson = document.querySelector<HTMLAnchorElement>('.lesson-foot a.next')
  return lesson ? { href: lesson.href, label: lesson.rel === 'next' ? 'Next lesson' : 'All lessons', follow: () => undefined } : undefined
}
