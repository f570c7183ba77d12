import { describe, expect, test } from 'vitest'
import { maxOpen, Opener, type Card } from './exercise-opener'
import type { ExerciseState } from './protocol/messages'

/** A page of cards, and the server that they ask. */
class Page {
  ready = false
  asked: string[] = []
  readonly states = new Map<string, ExerciseState>()
  readonly cards: (Card & { onScreen: boolean; asked: boolean; refused: boolean })[]
  readonly opener: Opener
  private listeners: (() => void)[] = []

  constructor(n: number) {
    this.opener = new Opener(this)
    this.cards = Array.from({ length: n }, (_, i) => {
      const open = () => {
        card.asked = true
        this.asked.push(card.exercise)
      }
      const card = { exercise: String(i), onScreen: false, asked: false, refused: false, open }
      return card
    })
    for (const card of this.cards) this.opener.add(card)
  }

  on(_: string, listener: () => void): () => void {
    this.listeners.push(listener)
    return () => undefined
  }

  exercise(id: string): ExerciseState | undefined {
    return this.states.get(id)
  }

  changed(): void {
    for (const listener of this.listeners) listener()
  }

  clusterIsReady(ready = true): void {
    this.ready = ready
    this.changed()
  }

  turn(i: number, phase: ExerciseState['phase']): void {
    const card = this.cards[i]
    if (card) card.asked = false
    this.states.set(String(i), { id: String(i), phase, checks: [], solution: false })
    this.changed()
  }

  show(i: number, onScreen = true): void {
    const card = this.cards[i]
    if (card) card.onScreen = onScreen
    this.opener.advance()
  }
}

describe('the exercises of a page', () => {
  test('open from the top when the cluster is ready, the next when the one before is prepared', () => {
    const page = new Page(3)
    expect(page.asked).toEqual([])
    page.clusterIsReady()
    expect(page.asked).toEqual(['0'])
    page.turn(0, 'preparing')
    expect(page.asked).toEqual(['0'])
    page.turn(0, 'open')
    expect(page.asked).toEqual(['0', '1'])
    page.turn(1, 'preparing')
    page.turn(1, 'error') // does not hold up the others
    expect(page.asked).toEqual(['0', '1', '2'])
  })

  test('what is on the screen goes first, and waits for none', () => {
    const page = new Page(4)
    page.show(2)
    page.clusterIsReady()
    expect(page.asked).toEqual(['2'])
    page.show(3)
    expect(page.asked).toEqual(['2', '3'])
    page.turn(2, 'open')
    expect(page.asked).toEqual(['2', '3'])
    page.turn(3, 'open')
    expect(page.asked).toEqual(['2', '3', '0'])
  })

  test('what is read next comes before what was passed', () => {
    const page = new Page(4)
    page.show(1)
    page.clusterIsReady()
    for (const i of [1, 2, 3]) page.turn(i, 'open')
    expect(page.asked).toEqual(['1', '2', '3', '0'])
  })

  test('what is open already is left alone, what is refused is passed over', () => {
    const page = new Page(3)
    page.turn(0, 'open')
    page.clusterIsReady()
    expect(page.asked).toEqual(['1'])
    Object.assign(page.cards[1] ?? {}, { asked: false, refused: true })
    page.opener.advance()
    expect(page.asked).toEqual(['1', '2'])
  })

  test('no more than the server keeps open, and none twice that it closed', () => {
    const page = new Page(maxOpen + 2)
    page.clusterIsReady()
    for (let i = 0; i < maxOpen; i++) page.turn(i, 'open')
    expect(page.asked).toHaveLength(maxOpen)
    page.show(maxOpen)
    page.turn(maxOpen, 'open')
    page.turn(0, 'closed')
    expect(page.asked).toHaveLength(maxOpen + 1)
    page.show(0) // but when it is seen
    expect(page.asked).toHaveLength(maxOpen + 2)
  })

  test('another cluster is prepared anew', () => {
    const page = new Page(2)
    page.clusterIsReady()
    page.turn(0, 'open')
    page.turn(1, 'open')
    page.clusterIsReady(false)
    page.turn(0, 'closed')
    page.turn(1, 'closed')
    page.clusterIsReady()
    expect(page.asked).toEqual(['0', '1', '0'])
  })
})
