import type { Registry } from 'prom-client'
import type { Clock, Timer } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { PodAbout } from '../metadata/commands.ts'
import type { SharedMetadata } from '../metadata/relay.ts'
import { Balance } from './balance.ts'
import { claimIdentity } from './claim.ts'
import { Forget } from './forget.ts'
import { DRAINING, Members, READY, type Member } from './members.ts'
import type { Message } from './messages.ts'
import { podMetrics } from './metrics.ts'
import { Peers } from './peers.ts'
import { DEFAULT_TIMINGS, type PeerNetwork, type PodTimings } from './port.ts'
import { Renewals } from './renewals.ts'
import { hashText, rendezvous } from '../base/rendezvous.ts'
import { LogWriter } from './writer.ts'

export interface PodsOptions {
  readonly metadata: SharedMetadata
  /** Raises the feature level when all live pods support it (metadata/open.ts). */
  readonly raiseLevel: () => Promise<boolean>
  readonly pod: string
  /** null: pods do not talk; everything works, slower. */
  readonly network: PeerNetwork | null
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  readonly random: Random
  /** What this process has of a WAL object in memory, for other pods; null when not all of it is there. */
  readonly cached: (object: number, start: number, end: number) => Uint8Array | null
  readonly timings?: Partial<PodTimings>
}

/** This process among the pods that share a log: claims its name, says that it is there, follows the others, leaves. */
export class Pods {
  readonly members: Members
  readonly writer: LogWriter
  readonly #options: PodsOptions
  readonly #timings: PodTimings
  readonly #peers: Peers
  readonly #renewals: Renewals
  readonly #balance: Balance
  readonly #forget: Forget
  readonly #listeners = new Set<() => void>()
  #generation = -1
  #peerAddress = ''
  #about: PodAbout | null = null
  #beatTimer: Timer | null = null
  #balanceTimer: Timer | null = null
  #stops: (() => void)[] = []
  #joined = false
  #draining = false
  #closed = false

  constructor(options: PodsOptions) {
    this.#options = options
    const { metadata, pod, clock, logger, random, registry } = options
    const timings = (this.#timings = { ...DEFAULT_TIMINGS, ...options.timings })
    const { incarnation, state } = metadata
    const network: PeerNetwork = options.network ?? {
      listen: async () => '',
      dial: () => Promise.reject(new Error('no network')),
      close: async () => {},
    }
    this.members = new Members({ state, incarnation, suspected: (other) => this.#peers.suspected(other) })
    this.#peers = new Peers({
      network,
      state,
      self: { pod, incarnation },
      clock,
      logger,
      random,
      timings,
      events: {
        message: (from, message) => this.#message(from, message),
        changed: () => this.#changed(),
        ahead: () => this.#ahead(),
      },
    })
    const parts = { metadata, members: this.members, peers: this.#peers, clock, logger, random, timings }
    this.writer = new LogWriter(parts)
    this.#renewals = new Renewals({ ...parts, writer: this.writer })
    this.#forget = new Forget({ metadata, clock, afterMs: timings.forgetMs })
    this.#balance = new Balance({ ...parts, isHolder: () => this.writer.isHolder, lost: (other) => this.#peers.lost(other) })
    podMetrics(registry, {
      pods: () => this.members.nodes().length,
      writesLog: () => this.writer.isHolder,
      links: () => this.#peers.links,
    })
  }

  /** Opens the way for other pods and makes sure that this name is free (L22). Nothing is served before. Errors: STORE_IN_USE. */
  async claim(): Promise<void> {
    const { metadata, network, pod, clock, logger } = this.#options
    await claimIdentity({ metadata, network, pod, clock, logger, timings: this.#timings })
    if (network !== null) this.#peerAddress = await network.listen((link) => this.#peers.accept(link))
    metadata.useRelay(this.writer)
    this.#stops.push(
      metadata.onWritten(({ number, bytes, attachmentBytes }) => this.#peers.broadcast({ type: 'entry', number, attachmentBytes, bytes })),
      metadata.onApplied((change) => void (change.other && this.#changed())),
    )
    this.#beat()
  }

  /** Tells everyone that clients may come, and takes part. Call when everything is ready to serve. */
  async join(about: Pick<PodAbout, 'listeners' | 'rack'>): Promise<void> {
    await this.#options.raiseLevel()
    this.#about = { ...about, peer: this.#peerAddress, phase: READY }
    await this.#announce(READY)
    this.#joined = true
    this.#beatTimer?.cancel()
    this.#beat()
    this.#look()
  }

  /** The pods that clients are sent to, by node id; this one among them unless it leaves. */
  nodes(): readonly Member[] {
    return this.members.nodes()
  }

  /** True when work of this name is this pod's: every name has one pod among the ready ones. Two may believe it for a while. */
  owns(work: string): boolean {
    const nodes = this.members.nodes()
    const place = rendezvous(
      hashText(work),
      nodes.map((node) => node.nodeId),
    )
    return place === this.#options.metadata.nodeId
  }

  get draining(): boolean {
    return this.#draining
  }

  /** There are other pods to go to. */
  get alone(): boolean {
    return !this.members.nodes().some((member) => member.incarnation !== this.#options.metadata.incarnation)
  }

  /** Called when `nodes` or `owns` may answer something else. */
  onChanged(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A range of a WAL object out of the cache of the pod that wrote it; null when it has it no more, or is too slow. */
  async readFrom(incarnation: number, object: number, start: number, end: number): Promise<Buffer | null> {
    const sent = this.#peers.call(incarnation, this.#timings.readMs, (id) => ({ type: 'read', id, object, start, end }))
    const answer = sent === null ? null : await sent
    return answer?.type === 'bytes' && answer.bytes?.length === end - start ? (answer.bytes as Buffer) : null
  }

  /** Clients, shards and the log lease go to others; what is under way here ends as it would (the server is closed later). */
  async drain(): Promise<void> {
    if (this.#draining) return
    this.#draining = true
    this.#balanceTimer?.cancel()
    await this.#announce(DRAINING)
    this.#changed()
    await this.#balance.handOver()
    await this.writer.handOver()
  }

  /** The last thing of this incarnation: it is fenced by itself, so that nobody waits for its lease to run out. */
  async leave(): Promise<void> {
    this.#stop()
    await this.#options.metadata.retire()
  }

  /** Ends all links and timers. */
  async close(): Promise<void> {
    this.#stop()
    this.#peers.close()
    await this.#options.network?.close()
  }

  #stop(): void {
    this.#closed = true
    this.#beatTimer?.cancel()
    this.#balanceTimer?.cancel()
    this.writer.close()
    for (const stop of this.#stops.splice(0)) stop()
  }

  async #announce(phase: number): Promise<void> {
    const { metadata, logger } = this.#options
    if (this.#about === null) return
    this.#about = { ...this.#about, phase }
    const result = await metadata.propose({ kind: 'announcePod', about: this.#about })
    if (result.kind === 'refused')
      logger.warn({ reason: result.reason }, 'this pod could not announce itself: an older pod holds the feature level back')
  }

  /** From the claim on, since others count as silence what a start takes; it takes part in the rest once it has joined. */
  #beat(): void {
    const { clock } = this.#options
    if (this.#closed) return
    this.#beatTimer = clock.timer(this.#timings.heartbeatMs, () => this.#beat())
    if (this.#joined) {
      this.#peers.beat()
      // Who writes an entry streams it: as long as all are linked nothing can be missed for long.
      this.#options.metadata.streaming(this.#peers.complete)
    }
    this.#renewals.tick()
    if (this.#joined) this.writer.tick()
  }

  #look(): void {
    const { clock, logger } = this.#options
    if (this.#closed || this.#draining) return
    this.#balanceTimer = clock.timer(this.#timings.balanceMs, () => this.#look())
    void this.#step().catch((error: unknown) =>
      logger.warn({ reason: String(error) }, 'shards or the list of incarnations could not be put in order: it is tried again'),
    )
  }

  /** A pod that came while an older one held the level back announces itself when that one is gone. */
  async #step(): Promise<void> {
    const { metadata, raiseLevel } = this.#options
    const { level } = metadata.state
    if ((await raiseLevel()) && level < 2) await this.#announce(READY)
    await this.#balance.tick()
    await this.#forget.pass(this.writer.isHolder)
  }

  #changed(): void {
    this.members.changed()
    if (this.members.generation === this.#generation) return
    this.#generation = this.members.generation
    this.writer.tick()
    for (const listener of this.#listeners) listener()
  }

  #ahead(): void {
    this.#options.metadata.wake()
  }

  #message(from: number, message: Message): void {
    const { metadata, cached } = this.#options
    if (message.type === 'entry') {
      if (!metadata.offer(message)) this.#ahead()
    } else if (message.type === 'forward') {
      const { id } = message
      const answer = (entry: number): void => void this.#peers.send(from, { type: 'forwarded', id, entry })
      if (message.incarnation !== from) answer(0)
      else metadata.proposeForwarded(message).then(answer, () => answer(0))
    } else if (message.type === 'read') {
      const { id, object, start, end } = message
      this.#peers.send(from, { type: 'bytes', id, bytes: cached(object, start, end) })
    }
  }
}
