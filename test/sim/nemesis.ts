import type { Cluster } from './clients/cluster.ts'
import type { Pod, Running } from './pod/pod.ts'

/** What may befall a run. */
export type FaultKind = 'kill' | 'term' | 'pause' | 'zombie' | 'store' | 'network' | 'peers'

export const FAULT_KINDS: readonly FaultKind[] = ['kill', 'term', 'pause', 'zombie', 'store', 'network', 'peers']

const RESTART_MS = 500
const TERM_WITHIN_MS = 5000

/** Breaks things, one after the other and several at a time, until the cluster drains; then mends everything. */
export class Nemesis {
  readonly #cluster: Cluster
  readonly #kinds: readonly FaultKind[]
  readonly #everyMs: number

  constructor(cluster: Cluster, kinds: readonly FaultKind[], everyMs: number) {
    this.#cluster = cluster
    this.#kinds = kinds
    this.#everyMs = everyMs
  }

  async run(): Promise<void> {
    const { world } = this.#cluster
    if (this.#kinds.length === 0) return
    while (!this.#cluster.draining) {
      await world.sleep(world.delay(this.#everyMs, 3))
      if (!this.#cluster.draining) this.#strike(world.pick(this.#kinds))
    }
  }

  /** Ends every fault; processes that are replaced or paused go on as they can. */
  mend(): void {
    const { pods, network, peers } = this.#cluster
    calmPeers(peers)
    network.cutBefore = network.cutAfter = network.slow = 0
    for (const pod of pods) {
      for (const running of pod.processes) {
        calm(running)
        running.process.resume()
      }
      if (!pod.isServed) pod.start()
    }
  }

  #strike(kind: FaultKind): void {
    const { world, pods, faults } = this.#cluster
    const pod = world.pick(pods)
    const running = pod.current
    if (kind === 'network') return this.#network()
    if (kind === 'peers') return this.#peers(running)
    if (running === null) return
    // a start must come to its end at some time
    if (running.broker === null && !world.chance(0.15)) return
    switch (kind) {
      case 'kill':
        faults.count('pod killed')
        pod.kill(running)
        return this.#startLater(pod, world.delay(RESTART_MS))
      case 'term':
        if (running.broker === null || running.isClosing) return
        faults.count('pod told to end')
        pod.terminate(running, TERM_WITHIN_MS)
        return this.#startLater(pod, world.delay(RESTART_MS))
      case 'pause':
        return this.#pause(running, world.delay(900, 12))
      case 'zombie':
        return this.#zombie(pod, running)
      case 'store':
        return this.#store(running)
    }
  }

  #startLater(pod: Pod, delayMs: number): void {
    const { world } = this.#cluster
    world.after(delayMs, () => {
      if (!pod.isServed) pod.start()
    })
  }

  #pause(running: Running, forMs: number): void {
    const { world, faults } = this.#cluster
    if (running.process.paused) return
    faults.count('pod paused')
    world.note(`${running.process.name} is paused for ${Math.round(forMs)} ms`)
    running.process.pause()
    world.after(forMs, () => {
      if (!running.process.alive || !running.process.paused) return
      world.note(`${running.process.name} goes on`)
      running.process.resume()
    })
  }

  /** A process stops and is replaced; then it wakes up and does not know. */
  #zombie(pod: Pod, running: Running): void {
    const { world, faults } = this.#cluster
    if (running.process.paused || running.broker === null) return
    faults.count('pod replaced while paused')
    this.#pause(running, world.pick([1500, 4000, 12_000]) * (0.5 + world.random()))
    this.#startLater(pod, world.delay(RESTART_MS))
  }

  #store({ process, weather }: Running): void {
    const { world } = this.#cluster
    const kind = world.below(6)
    const forMs = world.delay(1200, 4)
    if (kind === 0) weather.throttled = true
    else if (kind === 1) weather.errorBefore = 0.3
    else if (kind === 2) weather.lostAnswer = 0.3
    else if (kind === 3) weather.lateEffect = 0.2
    else if (kind === 4) weather.slow = 0.4
    else Object.assign(weather, { errorBefore: 0.1, lostAnswer: 0.1, lateEffect: 0.1, slow: 0.1 })
    world.note(`${process.name} has trouble with the store, kind ${kind}, for ${Math.round(forMs)} ms`)
    world.after(forMs, () => calmStore(weather))
  }

  #peers(running: Running | null): void {
    const { world, peers, faults } = this.#cluster
    const kind = world.below(4)
    if (kind === 0) peers.lost = 0.3
    else if (kind === 1) peers.doubled = 0.3
    else if (kind === 2) peers.reordered = 0.3
    else if (running !== null) {
      faults.count('pod cut off from its peers')
      peers.isolated.add(running.process.name)
    }
    world.after(world.delay(1500, 4), () => calmPeers(peers))
  }

  #network(): void {
    const { world, network } = this.#cluster
    if (world.chance(0.3)) network.slow = 0.3
    else if (world.chance(0.5)) network.cutBefore = 0.15
    else network.cutAfter = 0.2
    world.after(world.delay(1200, 4), () => {
      network.cutBefore = network.cutAfter = network.slow = 0
    })
  }
}

function calmPeers(peers: Cluster['peers']): void {
  peers.lost = peers.doubled = peers.reordered = 0
  peers.isolated.clear()
}

function calm(running: Running): void {
  calmStore(running.weather)
}

function calmStore(weather: Running['weather']): void {
  Object.assign(weather, { errorBefore: 0, lostAnswer: 0, lateEffect: 0, slow: 0, throttled: false })
}
