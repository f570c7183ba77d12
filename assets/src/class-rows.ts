import type { Cell, CellState, Column, Row } from './protocol/class-messages'

// What an instructor's page makes of the rows: who needs help, in which order, in which words. Times are ms since the epoch.

const minute = 60_000

/** Who does not get on for so long is stuck, and who does nothing for so long is idle. */
export const patience = 5 * minute

export const filters = { all: 'All', stuck: 'Stuck', hand: 'Hand up', idle: 'Idle', away: 'Away' } as const
export type Filter = keyof typeof filters

export const orders = { help: 'Who needs help', name: 'Name', progress: 'Least progress', idle: 'Idle longest', seat: 'As they joined' } as const
export type Order = keyof typeof orders

/** For how long a learner has done nothing; 0 for who is away. */
export function idle(row: Row, now: number): number {
  return row.pages > 0 && row.active ? Math.max(0, now - Date.parse(row.active)) : 0
}

/** For how long a learner is stuck; 0 for who is not. */
export function stuck(row: Row, now: number): number {
  return row.stuck ? Math.max(1, now - Date.parse(row.stuck)) : 0
}

export function matches(row: Row, filter: Filter, now: number): boolean {
  switch (filter) {
    case 'all':
      return true
    case 'stuck':
      return stuck(row, now) >= patience
    case 'hand':
      return row.handAt !== undefined
    case 'idle':
      return idle(row, now) >= patience
    case 'away':
      return row.pages === 0
  }
}

export function sorted(rows: Row[], order: Order, now: number): Row[] {
  const by = (key: (row: Row) => number) => (a: Row, b: Row) => key(a) - key(b) || a.seat - b.seat
  switch (order) {
    case 'name':
      return [...rows].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }) || a.seat - b.seat)
    case 'progress':
      return [...rows].sort(by((row) => row.passed))
    case 'idle':
      return [...rows].sort(by((row) => -idle(row, now)))
    case 'seat':
      return [...rows].sort(by(() => 0))
    case 'help':
      // Hands first, the one that is up longest; then who is stuck longest, of those who are here.
      return [...rows].sort(by((row) => (row.handAt ? Date.parse(row.handAt) - now - 1e12 : row.pages > 0 ? -stuck(row, now) : 0)))
  }
}

/** How pressing it is that a cell does not pass: 0 (not tried, or just now) to 3. */
export function level(cell: Cell, now: number): 0 | 1 | 2 | 3 {
  if ((cell.state !== 'failing' && cell.state !== 'broken') || !cell.since) return 0
  const since = now - Date.parse(cell.since)
  return since < 2 * minute ? 0 : since < patience ? 1 : since < 2 * patience ? 2 : 3
}

/** "4 min", "1 h 20 min", "3 days". */
export function span(ms: number): string {
  const minutes = Math.floor(ms / minute)
  if (minutes < 1) return 'under 1 min'
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`
  const days = Math.floor(hours / 24)
  return days === 1 ? '1 day' : `${days} days`
}

/** "4m", "1h", "3d": where there is little room. */
export function brief(ms: number): string {
  const minutes = Math.floor(ms / minute)
  if (minutes < 60) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  return hours < 24 ? `${hours}h` : `${Math.floor(hours / 24)}d`
}

export const words: Record<CellState, string> = { closed: 'not opened', waiting: 'waiting', failing: 'not yet', passing: 'passed', broken: 'check failed' }

/** A cell in words. */
export function sentence(cell: Cell, now: number): string {
  const since = cell.since ? span(now - Date.parse(cell.since)) : ''
  switch (cell.state) {
    case 'passing':
      return since ? `passed ${since} ago` : 'passed'
    case 'failing':
      return since ? `not yet, for ${since}` : 'not yet, not tried'
    case 'broken':
      return since ? `the check failed, for ${since}` : 'the check failed'
    default:
      return words[cell.state]
  }
}

/** The columns by exercise, each with the place of its first one. */
export function byExercise(columns: Column[]): { exercise: string; title: string; first: number; columns: Column[] }[] {
  const groups: { exercise: string; title: string; first: number; columns: Column[] }[] = []
  columns.forEach((column, i) => {
    const last = groups.at(-1)
    if (last?.exercise === column.exercise) last.columns.push(column)
    else groups.push({ exercise: column.exercise, title: column.title, first: i, columns: [column] })
  })
  return groups
}

/** Splits rows into so many blocks of the same length, but for the last. */
export function blocks<T>(rows: T[], count: number): T[][] {
  const length = Math.ceil(rows.length / count) || 1
  return Array.from({ length: Math.ceil(rows.length / length) }, (_, i) => rows.slice(i * length, (i + 1) * length))
}
