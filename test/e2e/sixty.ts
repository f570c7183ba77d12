import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(__dirname, '../..')

/**
 * A class of sixty scripted learners: members in the store with pages and progress, without sixty clusters. It is
 * TestServeSixty of the package server; APILAB_SIXTY_BIN names its built test binary, else it is built.
 */
export class Sixty {
  url = ''
  /** Signs an admin in, once. */
  signIn = ''
  /** Path of the class's page. */
  class = ''
  private process?: ChildProcess
  private readonly dir = mkdtempSync(join(tmpdir(), 'apilab-sixty-'))

  async start(): Promise<this> {
    let binary = process.env['APILAB_SIXTY_BIN']
    if (!binary) {
      binary = join(this.dir, 'sixty.test')
      const built = spawnSync('go', ['test', '-c', '-o', binary, './server'], { cwd: root, encoding: 'utf8' })
      if (built.status !== 0) throw new Error(`the class of sixty was not built:\n${built.stderr}`)
    }
    const child = spawn(binary, ['-test.run', '^TestServeSixty$', '-test.timeout', '30m'], { cwd: join(root, 'server'), stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, APILAB_SIXTY: '1', TMPDIR: this.dir } })
    this.process = child
    let said = ''
    await new Promise<void>((resolve, reject) => {
      const read = (chunk: Buffer) => {
        said += chunk.toString()
        const line = /^\{"url".*\}$/m.exec(said)
        if (!line) return
        Object.assign(this, JSON.parse(line[0]))
        resolve()
      }
      child.stdout.on('data', read)
      child.stderr.on('data', read)
      child.on('error', reject)
      child.on('exit', (code) => reject(new Error(`the class of sixty ended with ${code} and said:\n${said}`)))
    })
    return this
  }

  async dispose(): Promise<void> {
    const child = this.process
    if (child && child.exitCode === null) {
      const gone = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await gone
    }
    rmSync(this.dir, { recursive: true, force: true })
  }
}
