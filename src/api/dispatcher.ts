import { Counter, Histogram, type Registry } from 'prom-client'
import {
  apis,
  decodeRequest,
  encodeResponseFrame,
  Errors,
  ProtocolError,
  type ApiKey,
  type Encoded,
  type RequestHeaderAt,
} from '../../protocol/index.ts'
import { hasCode } from '../base/errors.ts'
import { unsupportedVersion } from './18_apiVersions.ts'
import { CloseConnection, type Connection, type RequestContext, type ServedApi } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { SERVED } from './served.ts'

const API_VERSIONS = 18
/** What clients send to the leader of a partition: Produce, Fetch, ListOffsets, OffsetForLeaderEpoch. */
/** Says so itself, partition by partition: a code at the top makes no client look for the leader. */
const FETCH = 1
const LED: ReadonlySet<number> = new Set([0, 1, 2, 23])

/** A Produce request that wants no answer has no way to say no. */
function mayFail(request: { readonly acks?: number }): boolean {
  return request.acks !== 0
}

interface Route {
  readonly api: ServedApi
  readonly name: string
  readonly count: () => void
  readonly observe: (seconds: number) => void
}

/**
 * From a decoded header and the frame it stood in (without its size) to the frame of the response: what main.ts puts behind
 * the server (server/port.ts, `Dispatch`). Handlers begin in the order of the calls and synchronously,
 * so that Produce requests of one connection may be dispatched one after the other without waiting (L12).
 */
export class Dispatcher {
  readonly #parts: ApiParts
  readonly #routes = new Map<number, Route>()
  #movedMs = -Infinity

  constructor(parts: ApiParts, registry: Registry, served: readonly ServedApi[] = SERVED) {
    this.#parts = parts
    const total = new Counter({ name: 'frazil_requests_total', help: 'Kafka requests by API', labelNames: ['api'], registers: [registry] })
    const seconds = new Histogram({
      name: 'frazil_request_seconds',
      help: 'Time from a decoded request to its response, waits of long polls and rebalances included',
      labelNames: ['api'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    })
    for (const api of served) {
      const { name } = apis[api.key]
      const counter = total.labels(name)
      const histogram = seconds.labels(name)
      this.#routes.set(api.key, { api, name, count: () => counter.inc(), observe: (value) => histogram.observe(value) })
    }
  }

  /**
   * The response as a whole frame (size, header, body), or null when none is sent (Produce with acks 0). Rejects with
   * ProtocolError or CloseConnection when the connection is to be closed: a key or version that is not served, a body that
   * does not decode, or a refusal that has no other form. The caller logs that, once. A fault of ours is logged here and
   * answered with UNKNOWN_SERVER_ERROR.
   */
  async dispatch(connection: Connection, header: RequestHeaderAt, frame: Buffer, bodyAt = header.bodyAt): Promise<Encoded | null> {
    const { apiKey, apiVersion: version, correlationId } = header
    const route = this.#routes.get(apiKey)
    if (route === undefined) throw new ProtocolError('unsupported', `API key ${apiKey} is not served`)
    const { api, name } = route
    route.count()
    if (version < api.versions.min || version > api.versions.max) {
      if (apiKey === API_VERSIONS) return encodeResponseFrame(API_VERSIONS, 0, correlationId, unsupportedVersion(api))
      throw new ProtocolError('unsupported', `${name} v${version} is not served, only ${api.versions.min} to ${api.versions.max}`)
    }
    const request = decodeRequest(api.key, version, frame, bodyAt) as never
    const context: RequestContext = { version, correlationId, clientId: header.clientId ?? '', connection }
    const startMs = this.#parts.clock.monotonicMs()
    const response = await this.#handle(route, request, context)
    route.observe((this.#parts.clock.monotonicMs() - startMs) / 1000)
    return response
  }

  /** When a client was last sent elsewhere because this node leaves (monotonic), or -Infinity. */
  get movedMs(): number {
    return this.#movedMs
  }

  async #handle({ api, name }: Route, request: never, context: RequestContext): Promise<Encoded | null> {
    const { version, correlationId } = context
    try {
      const leaving = this.#parts.leaving?.() === true && LED.has(api.key) && mayFail(request)
      if (leaving) this.#movedMs = this.#parts.clock.monotonicMs()
      // Clients ask who leads now and come back there; all of them retry this one.
      const moved = leaving && api.key !== FETCH
      const response = moved ? api.fail(request, Errors.NOT_LEADER_OR_FOLLOWER, context) : await api.handle(request, context, this.#parts)
      return response === null ? null : encodeResponseFrame(api.key as ApiKey, version, correlationId, response)
    } catch (error) {
      if (error instanceof CloseConnection) throw error
      // This process is on its way out, whatever was asked: the client finds another one.
      if (hasCode(error, 'FENCED') || hasCode(error, 'CLOSED')) throw new CloseConnection(error.message)
      this.#parts.logger.error({ err: error, api: name, version, clientId: context.clientId }, 'a request failed unexpectedly')
      const response = api.fail(request, Errors.UNKNOWN_SERVER_ERROR, context)
      return response === null ? null : encodeResponseFrame(api.key as ApiKey, version, correlationId, response)
    }
  }
}
