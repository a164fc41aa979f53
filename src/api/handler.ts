import type { ApiKey, RequestOf, ResponseOf, VersionRange } from '../../protocol/index.ts'
import type { ApiParts } from './parts.ts'

/** What a handler knows of the connection a request came in on. */
export interface Connection {
  /** Address of the peer, as shown in group descriptions: Kafka prefixes it with a slash there. */
  readonly clientHost: string
  /** Name of the listener: decides which addresses the client is told. */
  readonly listener: string
  /** Aborts when the connection closes, which ends long polls. */
  readonly signal: AbortSignal
}

export interface RequestContext {
  readonly version: number
  readonly correlationId: number
  /** '' when the client gave none. */
  readonly clientId: string
  readonly connection: Connection
}

/** Thrown by a handler to close the connection without an answer, as Kafka does where a response cannot be sent. */
export class CloseConnection extends Error {
  constructor(reason: string) {
    super(reason)
    this.name = 'CloseConnection'
  }
}

/**
 * One Kafka API as served: its key, the versions, and what it does. `handle` runs synchronously up to its first await, in
 * the order of the connection's requests (Produce relies on that). null: no response is sent (acks 0).
 */
export interface ServedApi<K extends ApiKey = ApiKey> {
  readonly key: K
  /** Versions that are decoded and answered. */
  readonly versions: VersionRange
  /** Lowest version to advertise where it is not the lowest served (Produce, KAFKA-18659). */
  readonly advertisedMin: number
  handle(request: RequestOf<K>, context: RequestContext, parts: ApiParts): Promise<ResponseOf<K> | null> | ResponseOf<K> | null
  /** The whole request refused with one code, in the shape of this API; null where it has none. */
  fail(request: RequestOf<K>, error: number, context: RequestContext): ResponseOf<K> | null
}

/** Registers an API with the versions it serves; ApiVersions tells exactly these. */
export function serve<K extends ApiKey>(
  key: K,
  versions: { readonly min: number; readonly max: number; readonly advertisedMin?: number },
  behaviour: Pick<ServedApi<K>, 'handle' | 'fail'>,
): ServedApi<K> {
  const { min, max, advertisedMin = min } = versions
  return { key, versions: { min, max }, advertisedMin, ...behaviour }
}
