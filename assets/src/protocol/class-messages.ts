// What docs/protocol.md says of classes: what a learner's page is told of theirs, and what an instructor's page is told.

import type { ClusterState } from './messages'

/** What a learner shares with their class. */
export interface LearnersClass {
  member: boolean
  /** The hand is up since; absent: it is down. */
  handAt?: string
  messages: { id: number; from: string; text: string; at: string }[]
  observers: Observer[]
  /** Lessons, by ID. */
  closed: string[]
}

/** An instructor's page that looks at the learner's terminals. */
export interface Observer {
  id: string
  name: string
  typing: 'no' | 'asked' | 'allowed'
}

export type CellState = 'closed' | 'waiting' | 'failing' | 'passing' | 'broken'

export interface Cell {
  state: CellState
  /** Passing: since then. Failing, broken: stuck since then; absent: not tried yet. */
  since?: string
  why?: string
}

export interface Row {
  learner: string
  name: string
  /** Takes the place of the name where names are hidden. */
  seat: number
  handAt?: string
  /** When they last did something; absent: not since the server started. */
  active?: string
  pages: number
  busy: number
  lesson: string
  cluster: ClusterState
  stuck?: string
  passed: number
  cells: Cell[]
}

export interface Column {
  exercise: string
  /** Of the exercise. */
  title: string
  check: string
  says: string
}

export interface Stats {
  passed: number
  opened: number
  /** From opening to passing, in nanoseconds; 0: nobody passed. */
  median: number
  why?: string
  count?: number
}

export interface ClassLesson {
  id: string
  title: string
  track: string
  checks: number
  here: number
  closed: boolean
}

export interface Outcome {
  learner: string
  state: 'waiting' | 'running' | 'done' | 'failed' | 'left-out'
  text?: string
}

export interface Handout {
  title: string
  by: string
  at: string
  done: boolean
  outcomes: Outcome[]
}

export interface Grid {
  class: { id: string; name: string; ends?: string }
  now: string
  lesson: string
  lessons: ClassLesson[]
  checks: Column[]
  rows: Row[]
  stats: Stats[]
  handout: Handout | null
}

/** How far the making of clusters ahead is. */
export interface WarmUp {
  wanted: number
  ready: number
  underWay: boolean
  reason?: string
}

export type ClassMessage =
  | ({ type: 'class.grid' } & Grid)
  | { type: 'class.row'; lesson: string; row: Row }
  | { type: 'class.stats'; lesson: string; stats: Stats[] }
  | { type: 'class.handout'; handout: Handout }
  | { type: 'class.warmup'; warmUp: WarmUp }
