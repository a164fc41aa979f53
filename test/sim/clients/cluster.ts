import type { Pod, Running } from '../pod/pod.ts'
import type { FaultCounts } from '../world/faults.ts'
import type { PeerWeather } from '../world/peers.ts'
import type { World } from '../world/world.ts'
import { Connection, type NetworkWeather } from './connection.ts'
import type { History } from '../judge/history.ts'

/** What all clients of a run share. */
export interface Cluster {
  readonly world: World
  readonly history: History
  readonly faults: FaultCounts
  readonly network: NetworkWeather
  readonly peers: PeerWeather
  readonly pods: readonly Pod[]
  readonly topic: string
  topicId: string
  readonly partitions: number
  /** Operations that were answered or lost. */
  operations: number
  /** No new work: what is under way ends. */
  draining: boolean
}

/** Processes that take connections now, paused ones and those that were replaced among them. */
export function reachable(cluster: Cluster): Running[] {
  return cluster.pods.flatMap((pod) => pod.processes.filter((one) => one.broker !== null && !one.isClosing && one.process.alive))
}

/** A client's way into the cluster: one connection at a time, to any process. */
export class Endpoint {
  readonly #cluster: Cluster
  #connection: Connection | null = null

  constructor(cluster: Cluster) {
    this.#cluster = cluster
  }

  get current(): Connection | null {
    return this.#connection
  }

  /** The open connection, or one to another process; null while there is none to be had. */
  connect(): Connection | null {
    if (this.#connection !== null && !this.#connection.closed) return this.#connection
    const { world, faults, network } = this.#cluster
    const candidates = reachable(this.#cluster)
    this.#connection = candidates.length === 0 ? null : new Connection(world, world.pick(candidates), network, faults)
    return this.#connection
  }

  leave(): void {
    this.#connection?.close()
    this.#connection = null
  }
}
