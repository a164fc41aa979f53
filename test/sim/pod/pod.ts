import type { FrazilError } from '../../../src/base/errors.ts'
import type { Logger } from '../../../src/base/log.ts'
import type { Bucket } from '../world/bucket.ts'
import type { FaultCounts } from '../world/faults.ts'
import type { PeerWires } from '../world/peers.ts'
import { Process } from '../world/process.ts'
import { fairWeather, ProcessStore, type StoreWeather } from '../world/store.ts'
import type { World } from '../world/world.ts'
import { openBroker, type BrokerShape, type SimBroker } from './broker.ts'

/** A process that clients can reach, once `broker` is there. */
export interface Running {
  readonly process: Process
  readonly weather: StoreWeather
  broker: SimBroker | null
  /** Fires when the process is gone: connections break. */
  readonly gone: Set<() => void>
  isClosing: boolean
}

export interface PodOptions {
  readonly world: World
  readonly name: string
  readonly bucket: Bucket
  /** null: pods do not talk to each other. */
  readonly wires: PeerWires | null
  readonly shape: BrokerShape
  readonly faults: FaultCounts
  /** A process ended by itself: why. */
  readonly stopped: (error: FrazilError) => void
}

const RESTART_MS = 400

/** A pod by name: its process now, those before it that are paused and do not know it, and who starts it again. */
export class Pod {
  readonly name: string
  readonly #options: PodOptions
  readonly #skewMs: number
  readonly #rate: number
  #starts = 0
  /** The last is the one meant to be running. */
  processes: Running[] = []

  constructor(options: PodOptions) {
    const { world } = options
    this.#options = options
    this.name = options.name
    this.#skewMs = world.chance(0.5) ? 0 : Math.round((world.random() - 0.5) * 2 * world.pick([2000, 60_000, 1_800_000]))
    this.#rate = world.chance(0.5) ? 1 : 0.95 + world.random() * 0.1
    if (this.#skewMs !== 0) options.faults.count('clock skew')
  }

  get current(): Running | null {
    return this.processes.at(-1) ?? null
  }

  /** A process that is meant to serve, and may be on its way to it. */
  get isServed(): boolean {
    return this.processes.some((one) => !one.isClosing && !one.process.paused)
  }

  start(): void {
    const { world, bucket, faults, shape, wires } = this.#options
    const process = new Process(world, `${this.name}.${++this.#starts}`, this.#skewMs, this.#rate)
    const weather = { ...(this.current?.weather ?? fairWeather()) }
    const running: Running = { process, weather, broker: null, gone: new Set(), isClosing: false }
    this.processes.push(running)
    world.note(`${process.name} starts`)
    const store = new ProcessStore(process, bucket, weather, faults)
    const network = wires?.network(process) ?? null
    const onStop = (error: FrazilError): void => this.#ended(running, error)
    openBroker({ process, pod: this.name, store, network, shape, logger: this.#logger(process), onStop }).then(
      (broker) => {
        if (!process.alive) return
        running.broker = broker
        world.note(`${process.name} is ready`)
      },
      (error: unknown) => this.#ended(running, error as FrazilError),
    )
  }

  /** As kill -9. */
  kill(running: Running): void {
    if (!running.process.alive) return
    this.#options.world.note(`${running.process.name} is killed`)
    this.#remove(running)
  }

  /** As SIGTERM: it closes, and is killed when that takes too long. */
  terminate(running: Running, withinMs: number): void {
    const { world } = this.#options
    const { broker, process } = running
    if (broker === null || running.isClosing) return this.kill(running)
    running.isClosing = true
    world.note(`${process.name} is told to end`)
    broker.close().then(
      () => this.#remove(running),
      (error: unknown) => world.fail(error),
    )
    world.after(withinMs, () => this.kill(running))
  }

  #remove(running: Running): void {
    running.process.kill()
    this.#options.wires?.gone(running.process)
    this.processes = this.processes.filter((one) => one !== running)
    for (const fn of running.gone) fn()
    running.gone.clear()
  }

  /** It cannot go on: the supervisor starts it again. */
  #ended(running: Running, error: FrazilError): void {
    const { world, stopped } = this.#options
    if (!running.process.alive) return
    world.note(`${running.process.name} ends: ${error.code ?? 'a bug'} ${error.message}`)
    stopped(error)
    this.#remove(running)
    world.after(RESTART_MS, () => void (this.isServed || this.start()))
  }

  #logger(process: Process): Logger {
    const { world } = this.#options
    const note = (level: string) => (fields: object, message: string) => {
      const cause = (fields as { err?: Error; error?: Error; reason?: unknown }).err ?? (fields as { error?: Error }).error
      const reason = cause?.message ?? (fields as { reason?: string }).reason ?? ''
      world.note(`${process.name} ${level}: ${message} ${String(reason)}`)
    }
    return { debug() {}, info() {}, warn: note('warn'), error: note('error') }
  }
}
