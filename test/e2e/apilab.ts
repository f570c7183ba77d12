import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const binary = process.env['APILAB_BIN'] ?? join(__dirname, '../../bin/apilab')

/** One apilab on a data directory of its own, which outlives its processes. */
export class Apilab {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'apilab-e2e-'))
  /** Where the pages are, without a final slash. */
  url = ''
  /** Signs a browser in, once. */
  signIn = ''
  private process?: ChildProcess
  private log = ''

  /** The variables take the place of those of the tests' own environment; a server of classes lets an admin in first. */
  constructor(
    private readonly variables: NodeJS.ProcessEnv = {},
    private readonly classes = false,
  ) {}

  async start(): Promise<this> {
    const port = this.url ? new URL(this.url).port : '0'
    const where = this.classes ? ['serve', '--listen', `127.0.0.1:${port}`] : ['--port', port]
    const child = spawn(binary, [...where, '--no-open', '--data-dir', this.dataDir], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...this.variables } })
    this.process = child
    this.log = ''
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        this.log += chunk.toString()
        const link = /(http:\/\/127\.0\.0\.1:\d+)\/signin\/\S+/.exec(this.log)
        if (!link) return
        this.signIn = link[0]
        this.url = link[1] ?? ''
        resolve()
      }
      child.stdout.on('data', read)
      child.stderr.on('data', read)
      child.on('error', reject)
      child.on('exit', (code) => reject(new Error(`apilab ended with ${code} and said:\n${this.log}`)))
    })
    return this
  }

  /** Ends the process as a signal does, and waits until it is gone. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await gone
  }

  async dispose(): Promise<void> {
    await this.end()
    rmSync(this.dataDir, { recursive: true, force: true })
  }

  /** The process of the learner's control plane. */
  controlPlane(): number {
    const parent = String(this.process?.pid)
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
        const ppid = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
        if (ppid === parent && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[1] === 'control-plane') return Number(pid)
      } catch {
        // It ended while we looked.
      }
    }
    throw new Error('no control plane runs')
  }
}
