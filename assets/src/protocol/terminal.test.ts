import { describe, expect, test } from 'vitest'
import { decode, Kind, type Frame } from './frames'
import type { TerminalSize } from './messages'
import { TerminalLink } from './terminal'

const text = (s: string) => new TextEncoder().encode(s)
const string = (b: Uint8Array) => new TextDecoder().decode(b)

/** A terminal as the server keeps it: output by offset, input by writer, and a line that can be cut at any moment. */
class Far {
  output = ''
  input = ''
  oldest = 0
  online = true
  deliver?: (frame: Frame) => void
  flows: number[] = []
  sendsEnd = true
  sizes?: TerminalSize[]

  attach = (from: number) => {
    const start = Math.max(from, this.oldest)
    const reply = { from: start, acked: this.input.length, gap: start - from, ...(this.sendsEnd ? { end: this.output.length } : {}), ...(this.sizes ? { sizes: this.sizes } : {}) }
    queueMicrotask(() => this.print(start, this.output.slice(start)))
    return Promise.resolve(reply)
  }

  send = (data: Uint8Array<ArrayBuffer>): boolean => {
    const frame = decode(data.buffer)
    if (!this.online || !frame) return false
    if (frame.kind === Kind.flow) this.flows.push(frame.offset)
    if (frame.kind !== Kind.input) return true
    expect(frame.offset).toBeLessThanOrEqual(this.input.length) // no hole
    this.input += string(frame.payload).slice(this.input.length - frame.offset)
    return true
  }

  print(offset: number, more: string): void {
    this.output = this.output.slice(0, offset) + more
    this.deliver?.({ kind: Kind.output, terminal: 1, offset, payload: text(more) })
  }
}

function setUp() {
  const far = new Far()
  const drawn: string[] = []
  const old: string[] = []
  const caughtUp: number[] = []
  const link = new TerminalLink(1, far, {
    write(bytes, history, done) {
      drawn.push(string(bytes))
      if (history) old.push(string(bytes))
      done()
    },
    lost: (n) => drawn.push(`<${n} lost>`),
    resize: (cols, rows) => drawn.push(`<${cols}x${rows}>`),
    caughtUp: () => caughtUp.push(drawn.length),
  })
  far.deliver = (frame) => link.receive(frame)
  const settle = () => new Promise((resolve) => setTimeout(resolve))
  return { far, link, settle, drawn: () => drawn.join(''), old: () => old.join(''), drawnAtEnd: () => caughtUp.map((n) => drawn.slice(0, n).join('')) }
}

describe('a terminal', () => {
  test('draws what was there before the page, once, and marks it as history', async () => {
    const { far, link, settle, drawn, old } = setUp()
    far.output = '$ ls\r\n'
    await link.attach()
    await settle()
    far.print(6, '$ ')
    expect(drawn()).toBe('$ ls\r\n$ ')
    expect(old()).toBe('$ ls\r\n')
  })

  test('splits a frame in which history ends', async () => {
    const { far, link, settle, drawn, old } = setUp()
    far.output = 'old'
    await link.attach()
    far.output = 'oldnew'
    far.deliver?.({ kind: Kind.output, terminal: 1, offset: 0, payload: text('oldnew') })
    await settle()
    expect(drawn()).toBe('oldnew')
    expect(old()).toBe('old')
  })

  test('draws history in the sizes that it was written for, and then takes its own', async () => {
    const { far, link, settle, drawn, drawnAtEnd } = setUp()
    far.output = 'narrowwide'
    far.sizes = [
      { at: 0, cols: 40, rows: 10 },
      { at: 6, cols: 90, rows: 20 },
      { at: 10, cols: 80, rows: 20 },
    ]
    await link.attach()
    await settle()
    far.print(10, ' news')
    expect(drawn()).toBe('<40x10>narrow<90x20>wide<80x20> news')
    expect(drawnAtEnd()).toEqual(['<40x10>narrow<90x20>wide<80x20>'])
    link.detach()
    await link.attach()
    expect(drawn()).toBe('<40x10>narrow<90x20>wide<80x20> news') // the screen has its own size by now
  })

  test('a terminal that has printed nothing has its size at once', async () => {
    const { far, link, drawnAtEnd } = setUp()
    far.sizes = [{ at: 0, cols: 70, rows: 9 }]
    await link.attach()
    expect(drawnAtEnd()).toEqual(['<70x9>'])
  })

  test('holds frames that overtake the reply, and draws them in order', async () => {
    const { far, link, settle, drawn } = setUp()
    far.output = 'ab'
    const attached = link.attach()
    far.deliver?.({ kind: Kind.output, terminal: 1, offset: 0, payload: text('ab') })
    await attached
    await settle()
    expect(drawn()).toBe('ab')
  })

  test('says what is lost, and goes on behind it', async () => {
    const { far, link, settle, drawn } = setUp()
    far.output = '0123456789'
    far.oldest = 4
    await link.attach()
    await settle()
    expect(drawn()).toBe('<4 lost>456789')
  })

  test('keeps what is typed while the line is down, and types it once', async () => {
    const { far, link } = setUp()
    await link.attach()
    link.type(text('kube'))
    far.online = false
    link.type(text('ctl')) // sent into the void
    link.detach()
    link.type(text(' get')) // kept
    far.online = true
    await link.attach()
    link.type(text(' ns'))
    expect(far.input).toBe('kubectl get ns')
  })

  test('does not type twice what arrived although its acknowledgement did not', async () => {
    const { far, link } = setUp()
    await link.attach()
    link.type(text('delete'))
    link.detach()
    await link.attach()
    expect(far.input).toBe('delete')
  })

  test('counts output after the first attach as news, also what came while it was away', async () => {
    const { far, link, settle, old } = setUp()
    await link.attach()
    link.detach()
    far.output = 'while away'
    await link.attach()
    await settle()
    expect(old()).toBe('')
  })

  test('ignores the reply of an attach that a newer one has replaced', async () => {
    const { far, link, settle, drawn } = setUp()
    far.output = 'once'
    await Promise.all([link.attach(), link.attach()])
    await settle()
    expect(drawn()).toBe('once')
  })

  test('reports what is drawn, so that the server goes on sending', async () => {
    const { far, link, settle } = setUp()
    await link.attach()
    await settle()
    far.print(0, 'x'.repeat(70_000))
    expect(far.flows).toEqual([70_000])
  })

  test('any sequence of cuts leaves output and input whole', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      let state = seed
      const chance = (n: number) => (state = (state * 48271) % 2147483647) % n
      const { far, link, settle, drawn } = setUp()
      let typed = ''
      await link.attach()
      for (let step = 0; step < 40; step++) {
        const letter = String.fromCharCode(97 + (step % 26))
        switch (chance(5)) {
          case 0:
            far.online = false
            link.detach()
            break
          case 1:
            far.online = true
            await link.attach()
            await settle()
            break
          case 2:
            if (far.online) far.print(far.output.length, letter)
            else far.output += letter
            break
          default:
            typed += letter
            link.type(text(letter))
        }
      }
      far.online = true
      await link.attach()
      await settle()
      expect([seed, drawn()]).toEqual([seed, far.output])
      expect([seed, far.input]).toEqual([seed, typed])
    }
  })
})
