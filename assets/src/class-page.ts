import { ClassSession } from './class-session'

const id = document.querySelector('apilab-classroom')?.getAttribute('class-id') ?? ''

/** The session of the page of a class. */
export const room = new ClassSession(
  () => new WebSocket(new URL(`/ws?class=${encodeURIComponent(id)}`, location.href.replace(/^http/, 'ws')), 'apilab.v1'),
  async () => {
    try {
      return (await fetch(location.pathname, { redirect: 'manual', cache: 'no-store' })).status
    } catch {
      return 0
    }
  },
)

addEventListener('online', () => room.hurry())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') room.hurry()
})
