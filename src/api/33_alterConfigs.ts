/**
 * AlterConfigs (33): replaces all configs of topics and nodes; IncrementalAlterConfigs (44) is what clients should use. Served v0–2.
 *
 * - What is given is set, what is not goes back to its default. Keys that are fixed when a topic is made (table.namespace, table.name) stay when
 *   they are left out, as tools do not know of them.
 * - Errors as in IncrementalAlterConfigs: a resource or a key given twice, a null value: INVALID_REQUEST; unknown key or bad value:
 *   INVALID_CONFIG. A resource is changed whole or not at all; others of the request go on.
 * - validate_only answers the same and changes nothing.
 *
 * v1 unchanged · v2 flexible.
 */
import type { RequestOf, ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { alterAnswer, alterEach } from './support/alterEach.ts'
import { alterTarget } from './support/alterTarget.ts'
import { changedConfigs, DELETE, FIXED, SET } from './support/changedConfigs.ts'
import { storeConfigs } from './support/storeConfigs.ts'
import type { ConfigError } from './support/topicConfigs.ts'

export default serve(33, { min: 0, max: 2 }, { handle, fail })

type Request = RequestOf<33>
type Resource = Request['resources'][number]

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<33>> {
  const responses = await alterEach(request.resources, (resource) => replace(resource, request.validateOnly, parts))
  return { throttleTimeMs: 0, responses }
}

/** null when it was done. */
async function replace(
  { resourceType, resourceName, configs }: Resource,
  validateOnly: boolean,
  parts: ApiParts,
): Promise<ConfigError | null> {
  const target = alterTarget(resourceType, resourceName, parts)
  if ('error' in target) return target
  const given = new Set(configs.map(({ name }) => name))
  const left = Array.from(target.own.keys()).filter((name) => !given.has(name) && !FIXED.has(name))
  const operations = [
    ...configs.map(({ name, value }) => ({ name, value, configOperation: SET })),
    ...left.map((name) => ({ name, value: null, configOperation: DELETE })),
  ]
  const change = changedConfigs(operations, target, parts)
  if ('error' in change) return change
  return validateOnly ? null : storeConfigs(target, change, parts)
}

function fail(request: Request, error: number): ResponseOf<33> {
  return { throttleTimeMs: 0, responses: request.resources.map((resource) => alterAnswer(resource, { error, message: '' })) }
}
