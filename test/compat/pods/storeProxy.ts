import { Agent, createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Socket } from 'node:net'

/** What befalls a request to the store; each is the caller's `share` of all requests while it lasts. */
export const STORE_FAULTS = ['slow', 'busy', 'cut', 'lost', 'late', 'silent', 'down'] as const
export type StoreFaultKind = (typeof STORE_FAULTS)[number]

export interface StoreFault {
  readonly kind: StoreFaultKind
  /** 0 < share ≤ 1. */
  readonly share: number
  /** Only requests whose path contains this; '' for all. */
  readonly path: string
}

const BUSY = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'

/**
 * One pod's way to its S3 server. Requests are signed for this address and passed on as they came. `slow`: the answer comes later;
 * `busy`: 503; `cut`: the connection ends and the server hears nothing; `lost`: the server did it, the connection ends; `late`: the
 * connection ends, the server does it afterwards; `silent`: it did it, and nothing is ever said; `down`: nobody listens.
 */
export class StoreProxy {
  readonly port: number
  readonly #upstreamPort: number
  readonly #random: () => number
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 256 })
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Requests that a fault struck, by kind. */
  readonly struck = new Map<string, number>()
  #fault: StoreFault | null = null

  constructor(port: number, upstreamPort: number, random: () => number) {
    this.port = port
    this.#upstreamPort = upstreamPort
    this.#random = random
    this.#server = createServer((incoming, outgoing) => {
      this.#serve(incoming, outgoing).catch(() => outgoing.destroy())
    })
    this.#server.on('connection', (socket) => {
      if (this.#fault?.kind === 'down') {
        this.#count('down')
        socket.destroy()
        return
      }
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      socket.on('error', () => socket.destroy())
    })
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.port, '127.0.0.1', resolve)
    })
  }

  /** Ends the fault before; null: all is well. */
  set fault(fault: StoreFault | null) {
    this.#fault = fault
    // what was left without an answer stays so until the connection goes
    if (fault === null || fault.kind === 'down') for (const socket of this.#sockets) socket.destroy()
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
    this.#agent.destroy()
  }

  #count(kind: string): void {
    this.struck.set(kind, (this.struck.get(kind) ?? 0) + 1)
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const fault = this.#fault
    const kind = fault !== null && incoming.url!.includes(fault.path) && this.#random() < fault.share ? fault.kind : null
    if (kind !== null) this.#count(kind)
    // whole, so that it can be passed on when its connection is gone
    const body = await buffer(incoming)
    if (kind === 'cut' || kind === 'down') {
      outgoing.destroy()
      return
    }
    if (kind === 'busy') {
      outgoing.writeHead(503, { 'content-type': 'application/xml' }).end(incoming.method === 'HEAD' ? undefined : BUSY)
      return
    }
    if (kind === 'late') outgoing.destroy()
    if (kind === 'late' || kind === 'slow') await new Promise((resolve) => setTimeout(resolve, 100 + this.#random() * 2900))
    const answer = await this.#pass(incoming, body)
    if (kind === 'late' || kind === 'silent' || kind === 'lost') {
      await buffer(answer)
      if (kind === 'lost') outgoing.destroy()
      return
    }
    outgoing.writeHead(answer.statusCode!, answer.statusMessage, answer.rawHeaders)
    answer.once('error', () => outgoing.destroy())
    answer.pipe(outgoing)
  }

  #pass(incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { connection: _connection, expect: _expect, ...headers } = incoming.headers
    return new Promise((resolve, reject) => {
      const passed = request(
        { port: this.#upstreamPort, host: '127.0.0.1', method: incoming.method, path: incoming.url, headers, agent: this.#agent },
        resolve,
      )
      passed.once('error', reject)
      passed.end(body)
    })
  }
}
