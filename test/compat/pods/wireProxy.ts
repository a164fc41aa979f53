import { connect, createServer, type Server, type Socket } from 'node:net'

/** What befalls the connections of a wire. */
export const WIRE_FAULTS = ['slow', 'cut', 'lost', 'silent', 'down'] as const
export type WireFaultKind = (typeof WIRE_FAULTS)[number]

/**
 * One pod's way to a server that is spoken to in bytes (PostgreSQL, other pods). `slow`: what the server says comes later; `cut`:
 * connections end, new ones are made; `lost`: what is asked arrives, at the first word of an answer the connection ends; `silent`: what
 * is asked arrives, answers are held until the fault ends; `down`: connections end, and new ones at once.
 */
export class WireProxy {
  readonly port: number
  readonly #upstreamPort: number
  readonly #random: () => number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** Connections and answers that a fault struck, by kind. */
  readonly struck = new Map<string, number>()
  #fault: WireFaultKind | null = null
  #held: (() => void)[] = []

  constructor(port: number, upstreamPort: number, random: () => number) {
    this.port = port
    this.#upstreamPort = upstreamPort
    this.#random = random
    this.#server = createServer((client) => this.#join(client))
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.port, '127.0.0.1', resolve)
    })
  }

  /** Ends the fault before; null: all is well. */
  set fault(kind: WireFaultKind | null) {
    this.#fault = kind
    if (kind === 'cut' || kind === 'down') {
      for (const socket of this.#sockets) {
        this.#count(kind)
        socket.destroy()
      }
    }
    const held = this.#held
    this.#held = []
    for (const go of held) go()
  }

  close(): void {
    this.fault = null
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }

  #count(kind: string): void {
    this.struck.set(kind, (this.struck.get(kind) ?? 0) + 1)
  }

  #join(client: Socket): void {
    if (this.#fault === 'down') {
      this.#count('down')
      client.destroy()
      return
    }
    const server = connect(this.#upstreamPort, '127.0.0.1')
    const end = (): void => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.setNoDelay()
      socket.on('error', end)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        end()
      })
    }
    client.pipe(server)
    // one word after the other: a slow one holds up those behind it
    server.on('data', (bytes) => {
      server.pause()
      void this.#hold(end).then(() => {
        client.write(bytes)
        server.resume()
      })
    })
  }

  async #hold(end: () => void): Promise<void> {
    if (this.#fault === null) return
    this.#count(this.#fault)
    if (this.#fault === 'lost') end()
    else if (this.#fault === 'silent') await new Promise<void>((resolve) => this.#held.push(resolve))
    else if (this.#fault === 'slow') await new Promise((resolve) => setTimeout(resolve, 20 + this.#random() * 500))
  }
}
