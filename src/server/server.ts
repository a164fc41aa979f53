import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Registry } from 'prom-client'
import type { Clock, Timer } from '../base/clock.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { MemoryBudget } from './budget.ts'
import { Connection } from './connection.ts'
import type { Listener } from './listeners.ts'
import { registerServerMetrics, type ServerCounters } from './metrics.ts'
import { DEFAULT_LIMITS, type Dispatch, type ServerLimits } from './port.ts'

/** How often idle connections are looked for, at most. */
const SWEEP_MS = 5000
/** A client that took nothing for this long is closed when others wait for the memory of its answers. */
const STALLED_MS = 15000
const BIND_TRIES = 20
const BIND_PAUSE_MS = 100
/** A limit that is met over and over is told once in this time. */
const REFUSAL_LOG_MS = 1000

export interface KafkaServerOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  readonly listeners: readonly Listener[]
  readonly dispatch: Dispatch
  readonly limits?: Partial<ServerLimits>
  /** Told of all bytes that come in and go out. */
  readonly moved?: (sizeBytes: number) => void
}

/** TCP listeners for Kafka's frames. Knows connections and requests, no topics. */
export class KafkaServer {
  readonly #options: KafkaServerOptions
  readonly #limits: ServerLimits
  readonly #budget: MemoryBudget
  readonly #counters: ServerCounters = { receivedBytes: 0, sentBytes: 0, accepted: 0, refused: 0, queuedBytes: 0 }
  readonly #connections = new Set<Connection>()
  readonly #starved = new Set<Connection>()
  readonly #hosts = new Map<string, number>()
  readonly #servers: Server[] = []
  #nextId = 1
  #sweeper: Timer | null = null
  #refusalLogMs = -Infinity
  #closing: Promise<void> | null = null
  #onEmpty: (() => void) | null = null

  constructor(options: KafkaServerOptions) {
    this.#options = options
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits }
    this.#budget = new MemoryBudget(this.#limits.inFlightBytes)
    registerServerMetrics(options.registry, this.#counters, {
      connections: () => this.#connections.size,
      pausedConnections: () => count(this.#connections, (connection) => (connection.paused ? 1 : 0)),
      requestsInFlight: () => count(this.#connections, (connection) => connection.inFlight),
      inFlightBytes: () => this.#budget.usedBytes,
    })
  }

  /** Open connections. */
  get connections(): number {
    return this.#connections.size
  }

  /** Memory that requests hold until they are answered. */
  get inFlightBytes(): number {
    return this.#budget.usedBytes
  }

  /** Memory of responses that wait for their clients to read. */
  get queuedBytes(): number {
    return this.#counters.queuedBytes
  }

  /** Binds every listener, or none. The answer has the real ports. Errors: SETTING_INVALID for an address that cannot be had. */
  async listen(): Promise<readonly Listener[]> {
    const bound: Listener[] = []
    try {
      for (const listener of this.#options.listeners) bound.push({ ...listener, port: await this.#bind(listener) })
    } catch (error) {
      for (const server of this.#servers) server.close()
      throw error
    }
    this.#sweepLater()
    return bound
  }

  /**
   * Stops accepting and reading, ends long polls, lets requests that run be answered for up to `graceMs`, then closes
   * what is left; 0 closes all at once. Idempotent.
   */
  close(graceMs = 10000): Promise<void> {
    this.#closing ??= this.#close(graceMs)
    return this.#closing
  }

  async #close(graceMs: number): Promise<void> {
    this.#sweeper?.cancel()
    for (const server of this.#servers) server.close()
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve
    })
    for (const connection of this.#connections) connection.shutDown()
    if (this.#connections.size === 0) return
    const cutOff = (): void => {
      for (const connection of this.#connections) connection.destroy('the server stops and its answers did not go out in time')
    }
    const deadline = graceMs > 0 ? this.#options.clock.timer(graceMs, cutOff) : null
    if (deadline === null) cutOff()
    await emptied
    deadline?.cancel()
  }

  /** A process that was killed hard may hold its port for a moment longer than its lock: worth some tries. */
  async #bind(listener: Listener): Promise<number> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.#bindOnce(listener)
      } catch (error) {
        const inUse = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE'
        if (!inUse || tries >= BIND_TRIES) throw error
        await this.#options.clock.sleep(BIND_PAUSE_MS)
      }
    }
  }

  #bindOnce(listener: Listener): Promise<number> {
    const { name, host, port } = listener
    const server = createServer({ allowHalfOpen: true, noDelay: true, keepAlive: true }, (socket) => this.#accept(socket, name))
    return new Promise((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => {
        const why = error.code === 'EADDRINUSE' ? 'the address is in use' : error.message
        reject(new FrazilError('SETTING_INVALID', `listeners: cannot listen on ${name}://${host}:${port}, ${why}`, error))
      })
      server.listen({ port, ...(host === '' ? {} : { host }) }, () => {
        server.removeAllListeners('error')
        this.#servers.push(server)
        // After the start an error is one of accepting (no more file descriptors): the listener goes on.
        server.on('error', (error) => this.#options.logger.error({ err: error, listener: name }, 'a connection could not be accepted'))
        resolve((server.address() as AddressInfo).port)
      })
    })
  }

  #accept(socket: Socket, listener: string): void {
    const clientHost = (socket.remoteAddress ?? '').replace(/^::ffff:/, '')
    const ofHost = this.#hosts.get(clientHost) ?? 0
    if (this.#closing !== null || clientHost === '') return void socket.destroy()
    if (this.#connections.size >= this.#limits.connections) return this.#refuse(socket, clientHost, 'max.connections')
    if (ofHost >= this.#limits.connectionsPerHost) return this.#refuse(socket, clientHost, 'max.connections.per.ip')
    this.#hosts.set(clientHost, ofHost + 1)
    this.#counters.accepted++
    const { clock, logger, dispatch, moved = () => {} } = this.#options
    const parts = {
      clock,
      logger,
      dispatch,
      moved,
      limits: this.#limits,
      budget: this.#budget,
      counters: this.#counters,
      starved: this.#starved,
    }
    const info = { id: this.#nextId++, clientHost, listener }
    this.#connections.add(new Connection(socket, info, parts, (connection) => this.#gone(connection)))
  }

  #refuse(socket: Socket, clientHost: string, limit: string): void {
    socket.destroy()
    this.#counters.refused++
    const nowMs = this.#options.clock.monotonicMs()
    if (nowMs - this.#refusalLogMs < REFUSAL_LOG_MS) return
    this.#refusalLogMs = nowMs
    this.#options.logger.warn({ clientHost, connections: this.#connections.size }, `connection refused: ${limit} is reached`)
  }

  #gone(connection: Connection): void {
    if (!this.#connections.delete(connection)) return
    const { clientHost } = connection.info
    const left = this.#hosts.get(clientHost)! - 1
    if (left === 0) this.#hosts.delete(clientHost)
    else this.#hosts.set(clientHost, left)
    if (this.#connections.size === 0) this.#onEmpty?.()
  }

  #sweepLater(): void {
    const everyMs = Math.min(SWEEP_MS, Math.max(10, this.#limits.idleMs / 2))
    this.#sweeper = this.#options.clock.timer(everyMs, () => {
      this.#sweep(everyMs)
      if (this.#closing === null) this.#sweepLater()
    })
  }

  /** Closes idle connections, those that do not read while others wait for memory, and one that was let past the memory bound and then sent nothing. */
  #sweep(everyMs: number): void {
    const nowMs = this.#options.clock.monotonicMs()
    for (const connection of this.#connections) {
      const idleMs = nowMs - connection.idleSinceMs
      if (idleMs >= this.#limits.idleMs) connection.destroy(null)
      else if (this.#starved.size > 0 && nowMs - connection.stalledSinceMs >= STALLED_MS)
        connection.destroy('it does not read its answers while the memory for responses is spent')
      else if (connection === this.#budget.favoured) {
        if (connection.paused) this.#budget.whole(connection)
        else if (idleMs >= everyMs) connection.destroy('it holds half a request while the memory for requests is spent')
      }
    }
    this.#budget.serve()
  }
}

function count(connections: ReadonlySet<Connection>, of: (connection: Connection) => number): number {
  let sum = 0
  for (const connection of connections) sum += of(connection)
  return sum
}
