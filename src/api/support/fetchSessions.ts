import { Gauge, Counter, type Registry } from 'prom-client'
import { Errors, type RequestOf, type ResponseOf } from '../../../protocol/index.ts'
import type { Clock } from '../../base/clock.ts'
import { FetchSession } from './fetchSession.ts'

type Request = RequestOf<1>
type Topics = Request['topics']
type Responses = ResponseOf<1>['responses']

const NO_SESSION = 0
const INITIAL_EPOCH = 0
const FINAL_EPOCH = -1
const IDS_SINCE_VERSION = 13
const SESSIONS_SINCE_VERSION = 7
/** A session that was not used for this long makes room for a new one, and one that is this old for a larger one (K: FetchSessionCache). */
const EVICTION_MS = 120_000
/** Of all sessions together, some 200 bytes each. A client that would need more is answered without a session. */
const MAX_PARTITIONS = 500_000

/** How a Fetch is to be served. */
export interface FetchTurn {
  readonly error: number
  /** What is fetched, in this order. */
  readonly topics: Topics
  /** The session that goes on; null when the whole answer is sent. */
  readonly session: FetchSession | null
  /** The whole answer is to begin a session. */
  readonly begins: boolean
}

export interface FetchSessionsOptions {
  readonly clock: Clock
  readonly registry: Registry
  /** max.incremental.fetch.session.cache.slots */
  readonly slots: number
  readonly randomUuid: () => string
  readonly maxPartitions?: number
}

/**
 * Incremental fetch sessions of this node (KIP-227; K: FetchSession.scala). They live in memory alone: a client that comes with one that
 * is not here is told so and sends a full request. Bounded by slots and by partitions.
 */
export class FetchSessions {
  readonly #options: FetchSessionsOptions
  /** The one used longest ago comes first. */
  readonly #byId = new Map<number, FetchSession>()
  #partitions = 0
  readonly #evictions: Counter

  constructor(options: FetchSessionsOptions) {
    this.#options = options
    const { registry } = options
    const registers: [] = []
    const sessions = this.#byId
    const partitions = (): number => this.#partitions
    registry.registerMetric(
      new Gauge({
        name: 'frazil_fetch_sessions',
        help: 'Incremental fetch sessions (KIP-227)',
        registers,
        collect() {
          this.set(sessions.size)
        },
      }),
    )
    registry.registerMetric(
      new Gauge({
        name: 'frazil_fetch_session_partitions',
        help: 'Partitions that incremental fetch sessions remember',
        registers,
        collect() {
          this.set(partitions())
        },
      }),
    )
    this.#evictions = new Counter({
      name: 'frazil_fetch_session_evictions_total',
      help: 'Incremental fetch sessions that made room for others',
      registers: [registry],
    })
  }

  get size(): number {
    return this.#byId.size
  }

  get partitions(): number {
    return this.#partitions
  }

  /** What a request fetches: itself, or the session that it goes on with, after its changes. */
  begin(request: Request, version: number): FetchTurn {
    const { sessionId, sessionEpoch, topics } = request
    if (version < SESSIONS_SINCE_VERSION) return whole(topics, false)
    if (sessionEpoch === INITIAL_EPOCH || sessionEpoch === FINAL_EPOCH) {
      if (sessionId !== NO_SESSION) this.#close(sessionId)
      return whole(topics, sessionEpoch === INITIAL_EPOCH)
    }
    const session = this.#byId.get(sessionId)
    if (session === undefined) return refused(Errors.FETCH_SESSION_ID_NOT_FOUND)
    if (session.epoch !== sessionEpoch) return refused(Errors.INVALID_FETCH_SESSION_EPOCH)
    if (session.usesIds !== version >= IDS_SINCE_VERSION) return refused(Errors.FETCH_SESSION_TOPIC_ID_ERROR)
    const before = session.size
    session.change(topics, request.forgottenTopicsData)
    this.#partitions += session.size - before
    if (session.size === 0) {
      this.#close(sessionId)
      return whole(topics, false)
    }
    if (session.size > before && this.#partitions > this.#maxPartitions) {
      this.#close(sessionId)
      return refused(Errors.FETCH_SESSION_ID_NOT_FOUND) // upon which the client sends all of it, and gets no session
    }
    this.#byId.delete(sessionId)
    this.#byId.set(sessionId, session)
    session.usedMs = this.#options.clock.monotonicMs()
    session.advance()
    return { error: Errors.NONE, topics: session.topics(), session, begins: false }
  }

  /** Begins a session with what was asked and answered, by place: its id; 0 when there is no room for it. */
  create(asked: Topics, answered: Responses, version: number): number {
    const { clock, slots } = this.#options
    const nowMs = clock.monotonicMs()
    const session = new FetchSession(this.#freeId(), version >= IDS_SINCE_VERSION, nowMs)
    session.fill(asked, answered)
    if (this.#partitions + session.size > this.#maxPartitions) return NO_SESSION
    if (this.#byId.size >= slots && !this.#evict(session.size, nowMs)) return NO_SESSION
    this.#byId.set(session.id, session)
    this.#partitions += session.size
    return session.id
  }

  get #maxPartitions(): number {
    return this.#options.maxPartitions ?? MAX_PARTITIONS
  }

  /** Makes room for a session of this size: the one used longest ago when it is stale, else the smallest of the old ones unless it is larger. */
  #evict(size: number, nowMs: number): boolean {
    const [oldest] = this.#byId.values()
    if (oldest === undefined) return false
    let victim = nowMs - oldest.usedMs > EVICTION_MS ? oldest : null
    if (victim === null) {
      for (const session of this.#byId.values()) {
        if (nowMs - session.createdMs > EVICTION_MS && session.size <= (victim?.size ?? size)) victim = session
      }
    }
    if (victim === null) return false
    this.#close(victim.id)
    this.#evictions.inc()
    return true
  }

  #close(sessionId: number): void {
    const session = this.#byId.get(sessionId)
    if (session === undefined) return
    this.#byId.delete(sessionId)
    this.#partitions -= session.size
  }

  #freeId(): number {
    for (;;) {
      const id = Number.parseInt(this.#options.randomUuid().slice(0, 8), 16) & 0x7fffffff
      if (id !== NO_SESSION && !this.#byId.has(id)) return id
    }
  }
}

const whole = (topics: Topics, begins: boolean): FetchTurn => ({ error: Errors.NONE, topics, session: null, begins })
const refused = (error: number): FetchTurn => ({ error, topics: [], session: null, begins: false })
