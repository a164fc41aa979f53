import { freePort } from '../../lib/broker.ts'
import type { Random } from '../../lib/random.ts'
import { STORE_FAULTS, type StoreFaultKind, StoreProxy } from './storeProxy.ts'
import { WIRE_FAULTS, type WireFaultKind, WireProxy } from './wireProxy.ts'

/** What one pod reaches the world through. */
export interface Way {
  readonly store: StoreProxy
  /** To PostgreSQL; null while the log is in the bucket. */
  readonly metadata: WireProxy | null
  /** Other pods reach this one through it, at the port of its own that stands beside it. */
  readonly link: WireProxy
  readonly linkPort: number
}

/** `share` of the requests while it lasts: what leaves requests unanswered strikes few, or nothing is done at all. */
const SHARES: Readonly<Record<StoreFaultKind, number>> = { slow: 0.7, busy: 0.6, cut: 0.3, lost: 0.3, late: 0.3, silent: 0.05, down: 1 }
const PAUSE_MS = 3000
const FAULT_MS = 9000

/** Faults of the network between pods, store and metadata log, one after the other: which, where and how long is up to the seed. */
export class Network {
  readonly #random: Random
  readonly ways: readonly Way[]
  /** How often each was begun. */
  readonly begun = new Map<string, number>()
  #running: Promise<void> = Promise.resolve()
  readonly #end = new AbortController()

  private constructor(random: Random, ways: readonly Way[]) {
    this.#random = random
    this.ways = ways
  }

  static async open(pods: number, storePort: number, postgresPort: number | null, random: Random): Promise<Network> {
    const ways: Way[] = []
    for (let pod = 0; pod < pods; pod++) {
      const linkPort = await freePort()
      const way: Way = {
        store: new StoreProxy(await freePort(), storePort, random.next),
        metadata: postgresPort === null ? null : new WireProxy(await freePort(), postgresPort, random.next),
        link: new WireProxy(await freePort(), linkPort, random.next),
        linkPort,
      }
      await way.store.listen()
      await way.metadata?.listen()
      await way.link.listen()
      ways.push(way)
    }
    return new Network(random, ways)
  }

  start(): void {
    this.#running = this.#run()
  }

  /** Ends the fault that lasts. */
  async heal(): Promise<void> {
    this.#end.abort()
    await this.#running
  }

  /** How many requests, connections and answers were struck, by kind. */
  struck(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>()
    const add = (name: string, counts: ReadonlyMap<string, number>): void => {
      for (const [kind, count] of counts) sums.set(`${name} ${kind}`, (sums.get(`${name} ${kind}`) ?? 0) + count)
    }
    for (const { store, metadata, link } of this.ways) {
      add('store', store.struck)
      if (metadata !== null) add('postgres', metadata.struck)
      add('link', link.struck)
    }
    return sums
  }

  close(): void {
    for (const { store, metadata, link } of this.ways) for (const proxy of [store, metadata, link]) proxy?.close()
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      await this.#pause(this.#random.next() * PAUSE_MS)
      if (this.#end.signal.aborted) break
      const what = this.#random.int(4)
      // mostly one pod's trouble, sometimes everyone's
      const ways = this.#random.chance(0.3) ? this.ways : [this.ways[this.#random.int(this.ways.length)]!]
      const set = what < 3 ? this.#storeOrLog(what === 2, ways) : this.#link(ways)
      await this.#pause(500 + this.#random.next() * FAULT_MS)
      set(false)
    }
  }

  /** A fault of all requests to the store, or of those of the metadata log. */
  #storeOrLog(log: boolean, ways: readonly Way[]): (on: boolean) => void {
    if (log && ways[0]!.metadata !== null) return this.#wire('postgres', (way) => way.metadata!, ways)
    const kind = STORE_FAULTS[this.#random.int(STORE_FAULTS.length)]!
    const fault = { kind, share: SHARES[kind], path: log ? '/meta/' : '' }
    this.#count(`${log ? 'log in the bucket' : 'store'} ${kind}`, ways)
    const set = (on: boolean): void => {
      for (const { store } of ways) store.fault = on ? fault : null
    }
    set(true)
    return set
  }

  #link(ways: readonly Way[]): (on: boolean) => void {
    return this.#wire('link', (way) => way.link, ways)
  }

  #wire(name: string, proxy: (way: Way) => WireProxy, ways: readonly Way[]): (on: boolean) => void {
    const kind: WireFaultKind = WIRE_FAULTS[this.#random.int(WIRE_FAULTS.length)]!
    this.#count(`${name} ${kind}`, ways)
    const set = (on: boolean): void => {
      for (const way of ways) proxy(way).fault = on ? kind : null
    }
    set(true)
    return set
  }

  #count(name: string, ways: readonly Way[]): void {
    this.begun.set(name, (this.begun.get(name) ?? 0) + 1)
    console.log(`  ${name} of ${ways.length === 1 ? `pod-${this.ways.indexOf(ways[0]!)}` : 'all pods'}`)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#end.signal.addEventListener(
        'abort',
        () => {
          clearTimeout(timer)
          resolve()
        },
        { once: true },
      )
      if (this.#end.signal.aborted) resolve()
    })
  }
}
