import { FrazilError } from '../../../src/base/errors.ts'
import type { PeerLink, PeerNetwork } from '../../../src/pods/port.ts'
import type { FaultCounts } from './faults.ts'
import type { Process } from './process.ts'
import type { World } from './world.ts'

/** How messages between pods fare now; the nemesis changes it. Links promise order; nothing may rest on it (L21). */
export interface PeerWeather {
  lost: number
  doubled: number
  /** A message that is this unlucky waits, and others pass it. */
  reordered: number
  /** Names of processes that nobody hears, and that hear nobody. */
  readonly isolated: Set<string>
}

const HOP_MS = 1.5
const REORDER_MS = 300
const DIAL_TIMEOUT_MS = 700

interface Listener {
  readonly process: Process
  readonly accept: (link: PeerLink) => void
}

/** Links between the processes of all pods. */
export class PeerWires {
  readonly world: World
  readonly faults: FaultCounts
  readonly weather: PeerWeather = { lost: 0, doubled: 0, reordered: 0, isolated: new Set() }
  readonly #listeners = new Map<string, Listener>()

  constructor(world: World, faults: FaultCounts) {
    this.world = world
    this.faults = faults
  }

  network(process: Process): PeerNetwork {
    const address = `${process.name}:1`
    const links = new Set<Wire>()
    return {
      listen: (accept) => {
        this.#listeners.set(address, { process, accept })
        return Promise.resolve(address)
      },
      dial: (to) => this.#dial(process, to, links),
      close: async () => {
        this.#listeners.delete(address)
        for (const link of links) link.close()
      },
    }
  }

  /** Nobody listens at a dead process, and its links break. */
  gone(process: Process): void {
    this.#listeners.delete(`${process.name}:1`)
  }

  #dial(from: Process, to: string, links: Set<Wire>): Promise<PeerLink> {
    const { world, weather } = this
    return new Promise((resolve, reject) => {
      const fail = (afterMs: number, code: 'REFUSED' | 'CLOSED'): void =>
        void world.after(afterMs, () => from.deliver(() => reject(new FrazilError(code, `nobody answers at ${to}`))))
      const listener = this.#listeners.get(to)
      if (listener === undefined || !listener.process.alive) return fail(world.delay(HOP_MS), 'REFUSED')
      const isCut = weather.isolated.has(from.name) || weather.isolated.has(listener.process.name)
      if (isCut) return fail(DIAL_TIMEOUT_MS, 'CLOSED')
      const [ours, theirs] = [new Wire(this, from), new Wire(this, listener.process)]
      ours.other = theirs
      theirs.other = ours
      links.add(ours)
      // the kernel of a paused process accepts as well
      world.after(world.delay(HOP_MS), () => listener.process.deliver(() => listener.accept(theirs)))
      world.after(world.delay(HOP_MS) * 2, () => from.deliver(() => resolve(ours)))
    })
  }
}

class Wire implements PeerLink {
  onMessage: (message: Buffer) => void = () => {}
  onClose: () => void = () => {}
  other: Wire | null = null
  readonly process: Process
  readonly #wires: PeerWires
  #closed = false
  #arrivesMs = 0

  constructor(wires: PeerWires, process: Process) {
    this.#wires = wires
    this.process = process
  }

  send(message: Uint8Array): boolean {
    if (this.#closed) return false
    const { world, weather, faults } = this.#wires
    const other = this.other!
    const copy = Buffer.from(message)
    const draws = [world.random(), world.random(), world.random()]
    if (!other.process.alive) {
      this.#breaks()
      return true
    }
    if (weather.isolated.has(this.process.name) || weather.isolated.has(other.process.name)) return true
    if (draws[0] < weather.lost) {
      faults.count('peer message lost')
      return true
    }
    this.#arrivesMs = Math.max(this.#arrivesMs, world.nowMs + world.delay(HOP_MS))
    let delayMs = this.#arrivesMs - world.nowMs
    if (draws[1] < weather.reordered) {
      faults.count('peer message reordered')
      delayMs += REORDER_MS * draws[2]
    }
    const arrive = (): void => other.process.deliver(() => void (other.#closed || other.onMessage(Buffer.from(copy))))
    world.after(delayMs, arrive)
    if (draws[2] < weather.doubled) {
      faults.count('peer message doubled')
      world.after(delayMs + world.delay(HOP_MS * 10), arrive)
    }
    return true
  }

  /** The other end is dead: this one learns it when it next has something to say. */
  #breaks(): void {
    const { world } = this.#wires
    world.after(world.delay(HOP_MS), () => this.process.deliver(() => this.close()))
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.onClose()
    const { world } = this.#wires
    const other = this.other!
    world.after(world.delay(HOP_MS), () => other.process.deliver(() => other.close()))
  }
}
