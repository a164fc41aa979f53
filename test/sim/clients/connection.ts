import type { Connection as ApiConnection, ServedApi } from '../../../src/api/handler.ts'
import { SERVED } from '../../../src/api/served.ts'
import { hasCode } from '../../../src/base/errors.ts'
import type { Running } from '../pod/pod.ts'
import type { FaultCounts } from '../world/faults.ts'
import type { World } from '../world/world.ts'

/** How the network between clients and pods is now; the nemesis changes it. */
export interface NetworkWeather {
  /** Probabilities that a connection breaks with a request, before or after the pod saw it. */
  cutBefore: number
  cutAfter: number
  slow: number
}

/** `refused`: it never reached the pod. `lost`: nobody knows. */
export type Reply<T> = { readonly kind: 'answer'; readonly value: T } | { readonly kind: 'lost' } | { readonly kind: 'refused' }

const HOP_MS = 2
const SLOW_MS = 800
const TIMEOUT_MS = 5000
const APIS = new Map<number, ServedApi>(SERVED.map((api) => [api.key, api]))

interface Pending {
  readonly settle: (reply: Reply<never>) => void
}

/** One client's connection to one process: requests arrive, and answers come back, in order. */
export class Connection {
  readonly running: Running
  closed = false
  /** Highest end that a fetch was told, by partition. */
  readonly highWatermarks = new Map<number, number>()
  readonly #world: World
  readonly #faults: FaultCounts
  readonly #weather: NetworkWeather
  readonly #abort = new AbortController()
  readonly #pending = new Set<Pending>()
  readonly #connection: ApiConnection
  #arrivesMs = 0
  #answersMs = 0
  #correlation = 0
  #isCut = false
  /** The answer before the next one, as answers keep the order of the requests. */
  #before: Promise<unknown> = Promise.resolve()

  constructor(world: World, running: Running, weather: NetworkWeather, faults: FaultCounts) {
    this.#world = world
    this.running = running
    this.#weather = weather
    this.#faults = faults
    this.#connection = { clientHost: '10.0.0.1', listener: 'PLAINTEXT', signal: this.#abort.signal }
    running.gone.add(this.#gone)
  }

  readonly #gone = (): void => void this.#world.after(this.#world.delay(HOP_MS), () => this.close())

  close(): void {
    if (this.closed) return
    this.closed = true
    this.running.gone.delete(this.#gone)
    this.#world.after(this.#world.delay(HOP_MS), () => this.running.process.deliver(() => this.#abort.abort()))
    for (const pending of this.#pending) pending.settle({ kind: 'lost' })
    this.#pending.clear()
  }

  /** Sends a request to a handler; `take` looks at the response when the pod sends it, before anybody changes its bytes. */
  call<T>(key: number, version: number, request: object, take: (response: never) => T): Promise<Reply<T>> {
    const world = this.#world
    const { process, broker } = this.running
    if (this.closed || broker === null || !process.alive) return Promise.resolve({ kind: 'refused' })
    const draws = [world.random(), world.random(), world.random()]
    const cutBefore = draws[0] < this.#weather.cutBefore
    const cutAfter = draws[1] < this.#weather.cutAfter
    if (cutBefore) this.#faults.count('connection cut before')
    if (cutAfter) this.#faults.count('connection cut after')
    const slow = draws[2] < this.#weather.slow
    if (slow) this.#faults.count('network slow')
    return new Promise<Reply<T>>((resolve) => {
      const pending: Pending = {
        settle: (reply) => {
          if (!this.#pending.delete(pending) && reply.kind !== 'lost') return
          resolve(reply)
        },
      }
      this.#pending.add(pending)
      const timeout = world.after(TIMEOUT_MS, () => {
        if (this.#pending.has(pending)) this.#faults.count('request timed out')
        this.close()
      })
      this.#arrivesMs = Math.max(this.#arrivesMs, world.nowMs + world.delay(HOP_MS) + (slow ? world.random() * SLOW_MS : 0))
      world.after(this.#arrivesMs - world.nowMs, () => {
        if (cutBefore) {
          // what was sent behind it never arrives either
          this.#isCut = true
          timeout.cancelled = true
          return this.close()
        }
        if (this.#isCut) return
        process.deliver(() => {
          const api = APIS.get(key)!
          const context = { version, correlationId: ++this.#correlation, clientId: 'sim', connection: this.#connection }
          const handled = Promise.resolve(api.handle(request as never, context, broker.parts))
          const before = this.#before
          this.#before = handled.then(
            () => undefined,
            (error: unknown) => {
              world.note(`${process.name} failed api ${key}: ${String(error)}`)
            },
          )
          void Promise.all([handled, before]).then(
            ([response]) => {
              const value = take(response as never)
              this.#answersMs = Math.max(this.#answersMs, world.nowMs + world.delay(HOP_MS))
              world.after(this.#answersMs - world.nowMs, () => {
                timeout.cancelled = true
                if (this.closed || !this.#pending.has(pending)) return
                if (cutAfter) return this.close()
                this.#pending.delete(pending)
                resolve({ kind: 'answer', value })
              })
            },
            (error: unknown) => {
              timeout.cancelled = true
              // as src/api/dispatcher.ts: a process on its way out closes the connection; anything else is a fault of ours
              if (hasCode(error, 'FENCED') || hasCode(error, 'CLOSED')) this.#gone()
              else world.fail(new Error(`${process.name} answers api ${key} with UNKNOWN_SERVER_ERROR: ${String((error as Error).stack)}`))
            },
          )
        })
      })
    })
  }
}
