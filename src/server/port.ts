import type { RequestHeaderAt } from '../../protocol/index.ts'

/** A connection as handlers may know it. */
export interface ConnectionInfo {
  /** Unique within the process. */
  readonly id: number
  /** Address of the peer, without port. */
  readonly clientHost: string
  /** Name of the listener it came in by, upper case. */
  readonly listener: string
  /** Aborts when the connection ends or the server shuts down: long polls answer at once. */
  readonly signal: AbortSignal
}

/** A response as a whole frame: size, header, body. The chunks are written as they are and must not change afterwards. */
export interface Answer {
  readonly chunks: readonly Uint8Array[]
  readonly sizeBytes: number
  /** The response goes out at once, then the connection is not read for this long (KIP-219). */
  readonly throttleMs?: number
}

/**
 * Handles one request; `frame` is the request without its size, its body begins at `header.bodyAt`, and it belongs to the
 * handler. Called in the order of the connection's requests; only Produce requests are handed over while one before
 * them is not answered (L12). null: no response (acks 0). 'close', or a rejection: what was answered before goes out,
 * then the connection closes, with one log line. An API key or version that is not served is such a rejection (Kafka
 * closes; ApiVersions the handler answers in any version).
 */
export type Dispatch = (connection: ConnectionInfo, header: RequestHeaderAt, frame: Buffer) => Promise<Answer | null | 'close'>

/** Bounds of the server; the names in Kafka's settings beside them. */
export interface ServerLimits {
  /** `socket.request.max.bytes`. */
  readonly requestMaxBytes: number
  /** Requests that are read and not yet answered, per connection; one request may be larger. */
  readonly connectionInFlightBytes: number
  /** `queued.max.request.bytes`: the same over all connections; exceeded by at most one request and what sockets hand over at once. */
  readonly inFlightBytes: number
  /** A connection with more unsent response bytes than this starts no request. */
  readonly unsentBytes: number
  /** Response bytes of all connections that wait for their clients; beyond it only Produce requests are started. */
  readonly queuedBytes: number
  /** `connections.max.idle.ms`. */
  readonly idleMs: number
  /** `max.connections`. */
  readonly connections: number
  /** `max.connections.per.ip`. */
  readonly connectionsPerHost: number
}

const MIB = 1024 * 1024

export const DEFAULT_LIMITS: ServerLimits = {
  requestMaxBytes: 100 * MIB,
  connectionInFlightBytes: 16 * MIB,
  inFlightBytes: 512 * MIB,
  unsentBytes: MIB,
  queuedBytes: 512 * MIB,
  idleMs: 600000,
  connections: 0x7fffffff,
  connectionsPerHost: 0x7fffffff,
}
