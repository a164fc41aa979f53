import type { Clock } from '../base/clock.ts'
import { hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Random } from '../base/random.ts'
import type { StateView } from '../metadata/view.ts'
import { decodeMessage, encodeMessage, type Message } from './messages.ts'
import type { PeerLink, PeerNetwork, PodTimings } from './port.ts'

/** Another pod's incarnation as it is known here. */
interface Peer {
  readonly incarnation: number
  link: PeerLink | null
  /** Heartbeats since it was last heard. */
  missed: number
  lastEntry: number
  dialing: boolean
  /** Beats until it is dialed again, after failures. */
  wait: number
  failures: number
  readonly calls: Map<number, (answer: Message | null) => void>
}

/** What a pod does with the messages of others. */
export interface PeerEvents {
  /** Anything but hello, beat and answers. */
  readonly message: (from: number, message: Message) => void
  /** It said that it leaves, or its link came or went. */
  readonly changed: () => void
  /** It is further in the log than we are. */
  readonly ahead: (lastEntry: number) => void
}

export interface PeersOptions {
  readonly network: PeerNetwork
  readonly state: StateView
  readonly self: { readonly pod: string; readonly incarnation: number }
  readonly clock: Clock
  readonly logger: Logger
  readonly random: Random
  readonly timings: PodTimings
  readonly events: PeerEvents
}

type Call = Extract<Message, { readonly type: 'forward' | 'read' }>

/** Beats between two tries to reach a pod that cannot be reached, at most. */
const WAIT_MAX_BEATS = 8

/**
 * Links to all live pods: of two, the younger dials the older. Silence is counted in heartbeats of ours, so that a pod that was
 * paused for an hour wakes up and suspects nobody.
 */
export class Peers {
  readonly #options: PeersOptions
  readonly #peers = new Map<number, Peer>()
  readonly #unknown = new Set<PeerLink>()
  #nextId = 1
  #closed = false

  constructor(options: PeersOptions) {
    this.#options = options
  }

  /** Takes a link that another pod opened; it is nobody's until its hello. */
  accept(link: PeerLink): void {
    this.#greet(link, null)
  }

  /** One heartbeat: says that we live, counts who does not, dials who is not linked. */
  beat(): void {
    if (this.#closed) return
    const { self, state, timings } = this.#options
    const live = new Set<number>()
    for (const { incarnation, about } of state.livePods()) {
      if (incarnation === self.incarnation || about === null || about.peer === '') continue
      live.add(incarnation)
      const peer = this.#peer(incarnation)
      const before = peer.missed
      peer.missed++
      if (peer.link !== null && peer.missed > timings.suspectBeats) this.#drop(peer)
      if (before < timings.suspectBeats && peer.missed >= timings.suspectBeats) this.#options.events.changed()
      // of two the younger dials; the older only looks whether somebody is still there
      if (peer.link === null && incarnation < self.incarnation) this.#dial(peer, about.peer)
      else if (peer.link === null && before <= 1) this.#probe(peer, about.peer)
      this.send(incarnation, { type: 'beat', lastEntry: state.lastEntry })
    }
    for (const peer of this.#peers.values())
      if (!live.has(peer.incarnation) && state.incarnation(peer.incarnation)?.live !== true) this.#forget(peer)
  }

  /** The link works and the other end was heard lately. */
  healthy(incarnation: number): boolean {
    const peer = this.#peers.get(incarnation)
    return peer !== undefined && peer.link !== null && peer.missed < this.#options.timings.suspectBeats
  }

  /** Silent for long enough to do without it. A pod that was never expected to answer is not suspected. */
  suspected(incarnation: number): boolean {
    return (this.#peers.get(incarnation)?.missed ?? 0) >= this.#options.timings.suspectBeats
  }

  /** Every other pod that lives is linked. */
  get complete(): boolean {
    for (const { incarnation } of this.#options.state.livePods())
      if (incarnation !== this.#options.self.incarnation && !this.healthy(incarnation)) return false
    return true
  }

  /** Links that work now. */
  get links(): number {
    let count = 0
    for (const incarnation of this.#peers.keys()) if (this.healthy(incarnation)) count++
    return count
  }

  /** Silent for so long, or so surely gone, that what it coordinates is given to others. */
  lost(incarnation: number): boolean {
    return (this.#peers.get(incarnation)?.missed ?? 0) >= this.#lostBeats
  }

  get #lostBeats(): number {
    return 2 * this.#options.timings.suspectBeats
  }

  send(incarnation: number, message: Message): boolean {
    return this.#peers.get(incarnation)?.link?.send(encodeMessage(message)) ?? false
  }

  broadcast(message: Message): void {
    const bytes = encodeMessage(message)
    for (const { link } of this.#peers.values()) link?.send(bytes)
  }

  /** The answer, or null when the link fell silent or the time is over. Null at once when it is not healthy. */
  call(incarnation: number, timeoutMs: number, make: (id: number) => Call): Promise<Message | null> | null {
    const peer = this.#peers.get(incarnation)
    if (peer === undefined || !this.healthy(incarnation)) return null
    const id = this.#nextId++
    return new Promise((resolve) => {
      const timer = this.#options.clock.timer(timeoutMs, () => peer.calls.get(id)?.(null))
      peer.calls.set(id, (answer) => {
        timer.cancel()
        peer.calls.delete(id)
        resolve(answer)
      })
      if (!peer.link!.send(encodeMessage(make(id)))) peer.calls.get(id)?.(null)
    })
  }

  close(): void {
    this.#closed = true
    this.broadcast({ type: 'bye' })
    for (const peer of this.#peers.values()) this.#drop(peer)
    for (const link of this.#unknown) link.close()
  }

  #peer(incarnation: number): Peer {
    let peer = this.#peers.get(incarnation)
    if (peer === undefined) {
      peer = { incarnation, link: null, missed: 0, lastEntry: 0, dialing: false, wait: 0, failures: 0, calls: new Map() }
      this.#peers.set(incarnation, peer)
    }
    return peer
  }

  #dial(peer: Peer, address: string): void {
    if (peer.dialing || peer.wait-- > 0) return
    peer.dialing = true
    this.#options.network
      .dial(address)
      .then(
        (link) => {
          if (this.#closed) link.close()
          else this.#greet(link, peer)
        },
        (error: unknown) => {
          this.#refused(peer, error)
          if (peer.failures === 0)
            this.#options.logger.warn({ incarnation: peer.incarnation, reason: String(error) }, 'another pod cannot be reached')
          peer.failures++
          peer.wait = Math.floor(this.#options.random() * Math.min(2 ** peer.failures, WAIT_MAX_BEATS))
        },
      )
      .finally(() => (peer.dialing = false))
  }

  #probe(peer: Peer, address: string): void {
    this.#options.network.dial(address).then(
      (link) => link.close(),
      (error: unknown) => this.#refused(peer, error),
    )
  }

  /** Nobody listens there any more: it need not be waited for. */
  #refused(peer: Peer, error: unknown): void {
    if (!hasCode(error, 'REFUSED') || peer.link !== null || peer.missed >= this.#lostBeats) return
    peer.missed = this.#lostBeats
    this.#options.events.changed()
  }

  /** Says hello on a new link and waits for the other's. `expected`: whom we dialed. */
  #greet(link: PeerLink, expected: Peer | null): void {
    const { self, state } = this.#options
    this.#unknown.add(link)
    let peer: Peer | null = null
    link.onClose = () => {
      this.#unknown.delete(link)
      if (peer?.link === link) this.#drop(peer)
    }
    link.onMessage = (bytes) => {
      try {
        const message = decodeMessage(bytes)
        if (message === null) return
        if (peer !== null) this.#received(peer, message)
        else peer = this.#hello(link, message, expected)
      } catch (error) {
        this.#options.logger.warn({ err: error, incarnation: peer?.incarnation }, 'a link to another pod is closed')
        link.close()
      }
    }
    link.send(encodeMessage({ type: 'hello', clusterId: state.clusterId, pod: self.pod, incarnation: self.incarnation }))
  }

  #hello(link: PeerLink, message: Message, expected: Peer | null): Peer | null {
    const { self, state, logger } = this.#options
    const wrong =
      message.type !== 'hello' ||
      message.clusterId !== state.clusterId ||
      message.incarnation === self.incarnation ||
      (expected !== null && message.incarnation !== expected.incarnation) ||
      state.isGone(message.incarnation)
    if (wrong) {
      logger.debug({ message: message.type }, 'a link of a pod that is not expected is closed')
      link.close()
      return null
    }
    this.#unknown.delete(link)
    const peer = this.#peer(message.incarnation)
    peer.link?.close()
    peer.link = link
    const suspected = this.suspected(peer.incarnation)
    peer.missed = peer.failures = peer.wait = 0
    if (suspected) this.#options.events.changed()
    if (state.incarnation(message.incarnation) === null) this.#options.events.ahead(state.lastEntry + 1)
    return peer
  }

  #received(peer: Peer, message: Message): void {
    const { events, timings, state } = this.#options
    const suspected = peer.missed >= timings.suspectBeats
    peer.missed = 0
    if (suspected) events.changed()
    if (message.type === 'beat') {
      // Twice the same: what it has is not on its way to us.
      if (message.lastEntry > state.lastEntry && message.lastEntry === peer.lastEntry) events.ahead(message.lastEntry)
      peer.lastEntry = message.lastEntry
    } else if (message.type === 'forwarded' || message.type === 'bytes') peer.calls.get(message.id)?.(message)
    else if (message.type === 'bye') {
      peer.missed = this.#lostBeats
      this.#drop(peer)
      events.changed()
    } else events.message(peer.incarnation, message)
  }

  /** Gives the link up; calls under way have no answer. Whether the other lives is not said by that. */
  #drop(peer: Peer): void {
    const { link } = peer
    peer.link = null
    link?.close()
    const calls = Array.from(peer.calls.values())
    for (const settle of calls) settle(null)
  }

  #forget(peer: Peer): void {
    this.#drop(peer)
    this.#peers.delete(peer.incarnation)
  }
}
