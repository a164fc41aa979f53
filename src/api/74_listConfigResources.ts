/**
 * ListConfigResources (74): what has configs (KIP-1142). Served v0–1.
 *
 * - v0 asks for client metrics alone, of which there are none. v1: no kinds ask for all: groups that have configs of their own, nodes, topics.
 * - Loggers have no configs here, so no node is listed for them. An unknown kind: UNSUPPORTED_VERSION.
 *
 * v0 is flexible · v1 the kinds that are asked for.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { ResourceType } from './support/resources.ts'

export default serve(74, { min: 0, max: 1 }, { handle, fail: (_request, error) => failed(error) })

function handle(request: RequestOf<74>, context: RequestContext, parts: ApiParts): ResponseOf<74> {
  const supported: readonly number[] = context.version === 0 ? [ResourceType.CLIENT_METRICS] : Object.values(ResourceType)
  const kinds = new Set(request.resourceTypes.length === 0 ? supported : request.resourceTypes)
  if (![...kinds].every((kind) => supported.includes(kind))) return failed(Errors.UNSUPPORTED_VERSION)
  const { state } = parts.metadata
  const named: Readonly<Record<number, () => Iterable<string>>> = {
    [ResourceType.GROUP]: () => state.configuredGroups(),
    [ResourceType.BROKER]: () => parts.nodes(context.connection.listener).map(({ nodeId }) => String(nodeId)),
    [ResourceType.TOPIC]: () => Array.from(state.topics(), ({ name }) => name),
  }
  const configResources = [...kinds].flatMap((resourceType) =>
    Array.from(named[resourceType]?.() ?? [], (resourceName) => ({ resourceName, resourceType })),
  )
  return { throttleTimeMs: 0, errorCode: Errors.NONE, configResources }
}

function failed(errorCode: number): ResponseOf<74> {
  return { throttleTimeMs: 0, errorCode, configResources: [] }
}
