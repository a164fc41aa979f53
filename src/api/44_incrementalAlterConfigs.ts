/**
 * IncrementalAlterConfigs (44): changes single configs of topics and nodes (KIP-339). Served v0–1.
 *
 * - Operations: 0 SET, 1 DELETE (back to the default), 2 APPEND and 3 SUBTRACT on lists. APPEND starts from the value that holds and
 *   keeps it free of repeats. On anything but a list: INVALID_CONFIG. DELETE of a key that is not set, or not known, is no error.
 * - A resource is changed whole or not at all; others of the request go on. A resource given twice, or a key given twice within one,
 *   or SET without a value: INVALID_REQUEST.
 * - Topic: unknown: UNKNOWN_TOPIC_OR_PARTITION; unknown key or bad value: INVALID_CONFIG; keys that are fixed when a topic is made
 *   (table.namespace, table.name): INVALID_CONFIG.
 * - Node: an id, or '' for the whole cluster; an id that never was, or a key that a running broker cannot change:
 *   INVALID_REQUEST. Loggers, client metrics: INVALID_REQUEST.
 * - Group: any id but the empty one; a value outside the broker's group.consumer.min/max keys: INVALID_CONFIG.
 * - validate_only answers the same and changes nothing.
 *
 * v1 flexible.
 */
import type { RequestOf, ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { alterEach } from './support/alterEach.ts'
import { alterTarget } from './support/alterTarget.ts'
import { changedConfigs } from './support/changedConfigs.ts'
import { storeConfigs } from './support/storeConfigs.ts'
import type { ConfigError } from './support/topicConfigs.ts'

export default serve(44, { min: 0, max: 1 }, { handle, fail })

type Request = RequestOf<44>
type Resource = Request['resources'][number]

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<44>> {
  const responses = await alterEach(request.resources, (resource) => alter(resource, request.validateOnly, parts))
  return { throttleTimeMs: 0, responses }
}

/** null when it was done. */
async function alter(resource: Resource, validateOnly: boolean, parts: ApiParts): Promise<ConfigError | null> {
  const target = alterTarget(resource.resourceType, resource.resourceName, parts)
  if ('error' in target) return target
  const change = changedConfigs(resource.configs, target, parts)
  if ('error' in change) return change
  return validateOnly ? null : storeConfigs(target, change, parts)
}

function fail(request: Request, error: number): ResponseOf<44> {
  const responses = request.resources.map(({ resourceType, resourceName }) => ({
    errorCode: error,
    errorMessage: null,
    resourceType,
    resourceName,
  }))
  return { throttleTimeMs: 0, responses }
}
