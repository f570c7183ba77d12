import { Session } from './session'

/** The session of this page. Constructing it opens nothing; an entry point connects it. */
export const session = new Session(
  () => new WebSocket(new URL('/ws', location.href.replace(/^http/, 'ws')), 'apilab.v1'),
  async () => {
    try {
      return (await fetch(location.pathname, { redirect: 'manual', cache: 'no-store' })).status
    } catch {
      return 0
    }
  },
  () => location.reload(),
)

addEventListener('online', () => session.hurry())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') session.hurry()
})
