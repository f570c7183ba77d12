import { createServer, connect, type Server, type Socket } from 'node:net'

/** A network line to the server that can be cut, as a laptop's that leaves the room. */
export class Line {
  /** What the page is opened at. */
  url = ''
  private server?: Server
  private readonly sockets = new Set<Socket>()
  private whole = true

  async open(to: string): Promise<this> {
    const far = new URL(to)
    const server = createServer((near) => {
      if (!this.whole) {
        near.destroy()
        return
      }
      const onward = connect(Number(far.port), far.hostname)
      for (const socket of [near, onward]) {
        this.sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          this.sockets.delete(socket)
          near.destroy()
          onward.destroy()
        })
      }
      near.pipe(onward).pipe(near)
    })
    this.server = server
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('the line has no port')
    this.url = `http://127.0.0.1:${address.port}`
    return this
  }

  cut(): void {
    this.whole = false
    for (const socket of this.sockets) socket.destroy()
  }

  mend(): void {
    this.whole = true
  }

  close(): void {
    this.cut()
    this.server?.close()
  }
}
