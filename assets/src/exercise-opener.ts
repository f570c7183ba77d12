import type { Session } from './session'

/** The server has no more exercises open at once (maxOpen of server/hub). */
export const maxOpen = 24

/** What an exercise's card tells the opener. */
export interface Card {
  readonly exercise: string
  readonly onScreen: boolean
  /** The server has been asked and has not answered; or it has refused, or would. */
  readonly asked: boolean
  readonly refused: boolean
  /** Asks the server. It is not called for a card that is asked, refused, or open. */
  open(): void
}

/**
 * Opens the exercises of a page, which prepares the cluster for them: one after the other as soon as the cluster is ready,
 * since the text before a card may need what its setup makes. What comes on the screen has no turn to wait for, and what
 * is read after it comes next.
 */
export class Opener {
  private readonly cards: Card[] = []
  private had = new Set<string>()

  constructor(private readonly session: Pick<Session, 'ready' | 'exercise' | 'on'>) {
    for (const change of ['exercises', 'cluster', 'connection'] as const) session.on(change, () => this.advance())
  }

  /** Takes the cards in the order of the page. */
  add(card: Card): void {
    this.cards.push(card)
  }

  remove(card: Card): void {
    this.cards.splice(this.cards.indexOf(card), 1)
  }

  advance(): void {
    if (!this.session.ready) {
      this.had.clear() // another cluster, another try
      return
    }
    for (const card of this.cards) if (card.onScreen) this.open(card)
    if (this.cards.some((card) => this.busy(card))) return
    // Each once: what the server closes again, because there are too many, has had its turn.
    const turn = (card: Card) => !this.had.has(card.exercise) && this.closed(card)
    const seen = this.cards.findLastIndex((card) => card.onScreen)
    const next = this.cards.slice(seen + 1, maxOpen).find(turn) ?? this.cards.slice(0, maxOpen).find(turn)
    if (next) this.open(next)
  }

  private open(card: Card): void {
    if (!this.closed(card)) return
    this.had.add(card.exercise)
    card.open()
  }

  private closed(card: Card): boolean {
    return !card.asked && !card.refused && (this.session.exercise(card.exercise)?.phase ?? 'closed') === 'closed'
  }

  /** What an earlier page has left in preparation is not waited for. */
  private busy(card: Card): boolean {
    return this.had.has(card.exercise) && (card.asked || this.session.exercise(card.exercise)?.phase === 'preparing')
  }
}
