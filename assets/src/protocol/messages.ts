// The JSON messages of docs/protocol.md, as TypeScript types. Durations are nanoseconds, as Go's time.Duration is encoded.
// Those of a class are in class-messages.ts.

import type { ClassMessage, LearnersClass } from './class-messages'

export type ClusterState = 'absent' | 'queued' | 'creating' | 'starting' | 'ready' | 'frozen' | 'healing' | 'deleting' | 'stopped' | 'failed'

export interface Phase {
  name: string
  says: string
  elapsed?: number
  done: boolean
}

export interface ClusterStatus {
  id: string
  /** That the cluster is of; during a switch, that it will be of. */
  backend: string
  state: ClusterState
  since: string
  reason?: string
  /** In the queue of those that wait to start, 1 being the next. */
  position?: number
  phases?: Phase[]
  capabilities: { backend: string; version: string; nodes: number; realPods: boolean; logs: boolean }
}

export interface Usage {
  privateBytes: number
  pssBytes: number
  cpu: number
  diskBytes: number
}

export interface TerminalInfo {
  id: number
  title: string
  busy: boolean
  exited: boolean
  /** Its size now. */
  cols?: number
  rows?: number
}

export type CheckState = 'waiting' | 'failing' | 'passing' | 'broken'

export interface Evidence {
  resource?: string
  namespace?: string
  name?: string
  resourceVersion?: string
  request?: string
  text?: string
}

export interface CheckStatus {
  id: string
  says: string
  kind: string
  state: CheckState
  since: string
  why?: string
  field?: string
  saw?: string
  by?: Evidence
  hints?: string[]
  hintsLeft: number
  answered?: string
  revision: number
}

export interface ExerciseState {
  id: string
  phase: 'closed' | 'preparing' | 'open' | 'error'
  error?: string
  checks: CheckStatus[]
  passedAt?: string
  solution: boolean
}

export interface FileInfo {
  path: string
  size: number
  modified: string
  dir: boolean
}

export interface EditorRequest {
  token: string
  name: string
  text: string
  language: string
}

export type Level = 'info' | 'warning' | 'error'

export interface Hello {
  type: 'hello'
  version: string
  /** Names this run of the server. */
  run?: string
  learner: string
  cluster: ClusterStatus
  terminals: TerminalInfo[] | null
  exercises: ExerciseState[] | null
  rv: string
  shell: 'sandboxed' | 'host'
  /** Those that the server offers, the first is that of who has chosen none. */
  backends: string[] | null
  class?: LearnersClass
  /** The page observes the learner, by this ID. */
  observer?: string
}

/** What the server sends, beside replies. */
export type ServerMessage =
  | Hello
  | { type: 'cluster'; status: ClusterStatus }
  | { type: 'rv'; resourceVersion: string }
  | { type: 'exercise'; state: ExerciseState }
  | { type: 'request'; record: unknown }
  | { type: 'terminals'; terminals: TerminalInfo[] | null }
  | ({ type: 'editor' } & EditorRequest)
  | { type: 'editor.gone'; token: string }
  | { type: 'notice'; level: Level; text: string }
  | { type: 'content'; reload: boolean }
  | { type: 'bye'; reason: string }
  | ({ type: 'class' } & LearnersClass)
  | ClassMessage

export interface Reply {
  type: 'reply'
  id: number
  ok: boolean
  error?: string
  value?: unknown
}

/** What the page sends: the fields of each message and the value of its reply. */
export interface Requests {
  'exercise.open': { fields: { exercise: string }; value: ExerciseState }
  'exercise.reset': { fields: { exercise: string }; value: ExerciseState }
  'exercise.answer': { fields: { exercise: string; check: string; value: string }; value: ExerciseState }
  'exercise.hint': { fields: { exercise: string; check: string }; value: ExerciseState }
  'exercise.solution': { fields: { exercise: string }; value: { solution: string } }
  'cluster.start': { fields: object; value: ClusterStatus }
  'cluster.reset': { fields: object; value: ClusterStatus }
  'cluster.switch': { fields: { backend: string }; value: ClusterStatus }
  'cluster.cancel': { fields: object; value: ClusterStatus }
  'cluster.usage': { fields: object; value: Usage }
  kubeconfig: { fields: { renew?: boolean }; value: { text: string } }
  'term.open': { fields: { cols: number; rows: number }; value: { terminal: number } }
  'term.attach': { fields: { terminal: number; writer: string; from: number }; value: Attached }
  'term.resize': { fields: { terminal: number; cols: number; rows: number }; value: unknown }
  'term.close': { fields: { terminal: number }; value: unknown }
  'files.list': { fields: object; value: FileInfo[] | null }
  'file.read': { fields: { path: string }; value: { text: string; version: string } }
  'file.write': { fields: { path: string; text: string; version?: string }; value: { version: string } }
  'file.delete': { fields: { path: string }; value: unknown }
  'editor.done': { fields: { token: string; save: boolean; text: string }; value: unknown }
  hand: { fields: { up: boolean }; value: unknown }
  'message.dismiss': { fields: { message: number }; value: unknown }
  'observer.allow': { fields: { observer: string; allow: boolean }; value: unknown }
  'observer.type': { fields: { ask: boolean }; value: unknown }
  'class.show': { fields: { lesson: string }; value: unknown }
  'class.message': { fields: { learner: string; text: string }; value: unknown }
  'class.hand': { fields: { learner: string }; value: unknown }
  'class.lesson': { fields: { lesson: string; closed: boolean }; value: unknown }
  'class.warm': { fields: { learners: number }; value: unknown }
  'class.extend': { fields: { ends?: string }; value: unknown }
  'class.reset.exercise': { fields: { learner: string; exercise: string }; value: { by?: string } }
  'class.reset.cluster': { fields: { learner: string }; value: { by?: string } }
  'class.handout': { fields: { exercise: string; script: string; title: string }; value: unknown }
  ping: { fields: object; value: unknown }
}

export interface Attached {
  /** Output goes on at this offset. */
  from: number
  /** Input of this writer that the terminal has taken. */
  acked: number
  /** Bytes of output that are no longer kept. */
  gap: number
  /** Output that was there when the page attached; what lies before it is history, which nothing may answer. */
  end?: number
  /** What the output was made for, in the order of the offsets; the last one is the terminal's size now. */
  sizes?: TerminalSize[]
}

/** A terminal's size from an offset of its output on. */
export interface TerminalSize {
  at: number
  cols: number
  rows: number
}
