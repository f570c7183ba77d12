import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Backoff } from './backoff'
import { Connection, Disconnected, Refused } from './connection'
import type { Hello, ServerMessage } from './messages'

const hello = { type: 'hello', version: 'v1', terminals: [], exercises: [], rv: '1' } as unknown as Hello

class FakeSocket {
  static readonly OPEN = 1
  readyState = 0
  binaryType = ''
  sent: string[] = []
  onopen?: () => void
  onclose?: ((event: { code: number }) => void) | null
  onmessage?: ((event: { data: string | ArrayBuffer }) => void) | null

  send(data: string): void {
    this.sent.push(data)
  }

  close(code = 1006): void {
    this.readyState = 3
    this.onclose?.({ code })
  }

  say(message: object): void {
    this.onmessage?.({ data: JSON.stringify(message) })
  }

  accept(): void {
    this.readyState = 1
    this.onopen?.()
    this.say(hello)
  }
}

function setUp(probe = 0) {
  const sockets: FakeSocket[] = []
  const states: string[] = []
  const messages: ServerMessage[] = []
  const connection = new Connection(
    {
      open: () => {
        const socket = new FakeSocket()
        sockets.push(socket)
        return socket as unknown as WebSocket
      },
      probe: () => Promise.resolve(probe),
      backoff: new Backoff(() => 1),
    },
    { state: (s) => states.push(s), message: (m) => messages.push(m), frame: () => undefined },
  )
  const last = () => {
    const socket = sockets.at(-1)
    if (!socket) throw new Error('no socket was opened')
    return socket
  }
  connection.connect()
  return { connection, sockets, states, messages, last }
}

beforeEach(() => {
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('the connection', () => {
  test('is open when the server has said hello, not before', () => {
    const { last, connection } = setUp()
    last().readyState = 1
    last().onopen?.()
    expect(connection.state).toBe('connecting')
    last().say(hello)
    expect(connection.state).toBe('open')
  })

  test('gives each reply to its request, whatever their order', async () => {
    const { last, connection } = setUp()
    last().accept()
    const usage = connection.request('cluster.usage', {})
    const list = connection.request('files.list', {})
    expect(last().sent.map((m) => JSON.parse(m) as object)).toEqual([
      { type: 'cluster.usage', id: 1 },
      { type: 'files.list', id: 2 },
    ])
    last().say({ type: 'reply', id: 2, ok: false, error: 'The folder is gone.' })
    last().say({ type: 'reply', id: 1, ok: true, value: { cpu: 5 } })
    last().say({ type: 'reply', id: 99, ok: true })
    await expect(usage).resolves.toEqual({ cpu: 5 })
    await expect(list).rejects.toThrow(new Refused('The folder is gone.'))
  })

  test('ends what waits for a reply when it is lost, and refuses what comes then', async () => {
    const { last, connection } = setUp()
    last().accept()
    const waiting = connection.request('files.list', {})
    last().close()
    await expect(waiting).rejects.toBeInstanceOf(Disconnected)
    await expect(connection.request('files.list', {})).rejects.toBeInstanceOf(Disconnected)
    expect(connection.send(new Uint8Array(1))).toBe(false)
  })

  test('comes back by itself, later and later, and at once when asked', () => {
    const { last, sockets, connection } = setUp()
    last().accept()
    last().close()
    expect(connection.state).toBe('lost')
    vi.advanceTimersByTime(249)
    expect(sockets.length).toBe(1)
    vi.advanceTimersByTime(1)
    expect(sockets.length).toBe(2)
    last().close()
    vi.advanceTimersByTime(499)
    expect(sockets.length).toBe(2)
    connection.hurry()
    expect(sockets.length).toBe(3)
    last().accept()
    expect(connection.state).toBe('open')
    vi.advanceTimersByTime(10_000)
    expect(sockets.length).toBe(3)
  })

  test('stays "lost" between attempts instead of flickering', () => {
    const { last, states } = setUp()
    last().accept()
    last().close()
    vi.advanceTimersByTime(250)
    expect(states).toEqual(['connecting', 'open', 'lost', 'lost'])
  })

  test('tells a server that does not let it in from one that is not there', async () => {
    for (const [status, state] of [
      [401, 'refused'],
      [403, 'refused'],
      [500, 'lost'],
      [200, 'lost'],
      [0, 'lost'],
    ] as const) {
      const { last, connection } = setUp(status)
      last().close()
      vi.advanceTimersByTime(250)
      last().close()
      await vi.advanceTimersByTimeAsync(0)
      expect([status, connection.state]).toEqual([status, state])
    }
  })

  test('finds out at once when its session was ended', async () => {
    const { last, connection } = setUp(401)
    last().accept()
    last().close(4401)
    await vi.advanceTimersByTimeAsync(0)
    expect(connection.state).toBe('refused')
  })

  test('asks after 15 s of silence and gives up after 45 s', () => {
    const { last, sockets, connection } = setUp()
    last().accept()
    vi.advanceTimersByTime(15_000)
    expect(last().sent.filter((m) => m.includes('ping')).length).toBe(1)
    last().say({ type: 'reply', id: 1, ok: false, error: 'unknown' })
    vi.advanceTimersByTime(40_000)
    expect(connection.state).toBe('open') // the refusal was a sign of life
    vi.advanceTimersByTime(6_000)
    expect(connection.state).toBe('lost')
    vi.advanceTimersByTime(250)
    expect(sockets.length).toBe(2)
  })
})
