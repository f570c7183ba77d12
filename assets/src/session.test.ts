import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { CheckState, ExerciseState } from './protocol/messages'
import { Session } from './session'

class FakeSocket {
  static readonly OPEN = 1
  readyState = 0
  sent: { type: string; id: number }[] = []
  onopen?: () => void
  onclose?: ((event: { code: number }) => void) | null
  onmessage?: ((event: { data: string }) => void) | null
  send = (data: string) => void this.sent.push(JSON.parse(data) as { type: string; id: number })
  close = () => this.onclose?.({ code: 1006 })
  say = (message: object) => this.onmessage?.({ data: JSON.stringify(message) })
}

const hello = { type: 'hello', version: 'v1', learner: 'local', cluster: { state: 'ready' }, terminals: null, exercises: null, rv: '7', shell: 'sandboxed' }

function state(...checks: [string, CheckState, number][]): ExerciseState {
  return { id: 't/e', phase: 'open', solution: false, checks: checks.map(([id, s, revision]) => ({ id, says: id, kind: 'object', state: s, since: '', hintsLeft: 0, revision })) }
}

function setUp() {
  const sockets: FakeSocket[] = []
  const reload = vi.fn()
  const session = new Session(
    () => {
      const socket = new FakeSocket()
      sockets.push(socket)
      return socket as unknown as WebSocket
    },
    () => Promise.resolve(0),
    reload,
  )
  const connect = () => {
    session.connect()
    const socket = sockets.at(-1)
    if (!socket) throw new Error('no socket was opened')
    socket.readyState = FakeSocket.OPEN
    socket.onopen?.()
    socket.say(hello)
    return socket
  }
  return { session, connect, reload }
}

beforeEach(() => {
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('the session', () => {
  test('says that the server was started again, and nothing where only the connection was lost', () => {
    const { session, connect } = setUp()
    const socket = connect()
    for (const run of ['a', 'a']) socket.say({ ...hello, run })
    expect(session.notices).toEqual([])
    socket.say({ ...hello, run: 'b' })
    expect(session.notices.map((notice) => notice.text)).toEqual([expect.stringContaining('started again')])
  })

  test('knows after hello what the server knows, null lists included', () => {
    const { session, connect } = setUp()
    connect()
    expect(session.ready).toBe(true)
    expect([session.rv, session.terminals, session.exercises.size]).toEqual(['7', [], 0])
  })

  test('an exercise that the server does not have open any more is closed, as it was', () => {
    const { session, connect } = setUp()
    const socket = connect()
    socket.say({ type: 'exercise', state: state(['a', 'passing', 5]) })
    socket.say({ ...hello, exercises: [{ ...state(['a', 'passing', 5]), id: 't/other' }] }) // after a restart
    expect(session.exercise('t/e')).toMatchObject({ phase: 'closed', checks: [{ state: 'passing' }] })
    expect(session.exercise('t/other')?.phase).toBe('open')
  })

  test('a reply that was overtaken by a push does not take the push back', () => {
    const { session, connect } = setUp()
    const socket = connect()
    socket.say({ type: 'exercise', state: state(['a', 'passing', 5], ['b', 'failing', 2]) })
    session.keep(state(['a', 'failing', 4], ['b', 'passing', 3]))
    expect(session.exercise('t/e')?.checks.map((c) => c.state)).toEqual(['passing', 'passing'])
    socket.say({ type: 'exercise', state: state(['a', 'failing', 1], ['b', 'failing', 1]) }) // opened anew: what is pushed holds
    expect(session.exercise('t/e')?.checks.map((c) => c.state)).toEqual(['failing', 'failing'])
  })

  test('editors that the server does not name again after a reconnect are gone', async () => {
    const { session, connect } = setUp()
    const editor = (token: string) => ({ type: 'editor', token, name: token, text: '', language: 'yaml' })
    const first = connect()
    first.say(editor('kept'))
    first.say(editor('ended'))
    first.close()
    expect(session.editors.length).toBe(2) // what was written stays on the page while it is away
    const second = connect()
    second.say(editor('kept'))
    const ping = second.sent.find((m) => m.type === 'ping')
    second.say({ type: 'reply', id: ping?.id, ok: true })
    await vi.advanceTimersByTimeAsync(0)
    expect(session.editors.map((e) => e.token)).toEqual(['kept'])
  })

  test('says once that the server is another than that of this page', () => {
    const { session, connect } = setUp()
    connect().close()
    const socket = connect()
    expect(session.notices).toEqual([])
    socket.say({ ...hello, version: 'v2' })
    socket.say({ ...hello, version: 'v2' })
    expect(session.notices.map((n) => n.level)).toEqual(['info'])
  })

  test('changed lessons are offered, and loaded at once in a preview', () => {
    const { session, connect, reload } = setUp()
    const socket = connect()
    socket.say({ type: 'content', reload: false })
    expect(session.notices.map((n) => n.reload)).toEqual([true])
    expect(reload).not.toHaveBeenCalled()
    socket.say({ type: 'content', reload: true })
    expect(reload).toHaveBeenCalledOnce()
  })

  test('a notice that is there already is not shown twice, until it is dismissed', () => {
    const { session, connect } = setUp()
    const socket = connect()
    const notice = { type: 'notice', level: 'warning', text: 'The port is taken.' }
    socket.say(notice)
    socket.say(notice)
    expect(session.notices.length).toBe(1)
    session.dismiss(session.notices[0]?.id ?? 0)
    socket.say(notice)
    expect(session.notices.length).toBe(1)
  })
})
