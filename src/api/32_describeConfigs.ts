/**
 * DescribeConfigs (32): every config of topics and nodes, with value, source and type. Served v1–4.
 *
 * - Topic: all keys of base/config/topicConfigs, effective values. Node: all keys of base/config/brokerConfigs, of this node only;
 *   an empty name: those set for the whole cluster. Group: all keys of base/config/groupConfigs. Loggers and client metrics: INVALID_REQUEST.
 * - Synonyms are where a value could come from, nearest first: topic, node, cluster, start, default.
 * - Null or no names ask for all; a name that does not exist is left out.
 * - Connect refuses to start unless cleanup.policy is told truly; consoles read the rest.
 *
 * v1 sources and synonyms · v3 types and documentation · v4 flexible.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { brokerEntries, clusterDefaultEntries, groupEntries, topicEntries, type ConfigEntry } from './support/configEntries.ts'
import { ResourceType } from './support/resources.ts'
import { topicNameProblem } from './support/topics.ts'

export default serve(32, { min: 1, max: 4 }, { handle, fail })

type Request = RequestOf<32>
type Resource = Request['resources'][number]
type Answer = ResponseOf<32>['results'][number]

interface Refusal {
  readonly error: number
  readonly message: string | null
}

function handle(request: Request, _context: RequestContext, parts: ApiParts): ResponseOf<32> {
  return { throttleTimeMs: 0, results: unlike(request.resources).map((resource) => describe(resource, request, parts)) }
}

/** The same asked for again and again is answered once: a short request must not ask for more than there is. */
function unlike(resources: readonly Resource[]): Resource[] {
  const key = ({ resourceType, resourceName, configurationKeys }: Resource): string =>
    JSON.stringify([resourceType, resourceName, configurationKeys])
  return [...new Map(resources.map((resource) => [key(resource), resource])).values()]
}

function describe(resource: Resource, request: Request, parts: ApiParts): Answer {
  const entries = entriesOf(resource, parts)
  if ('error' in entries) return refused(resource, entries)
  const { configurationKeys: keys } = resource
  const wanted = keys === null || keys.length === 0 ? entries : entries.filter((entry) => keys.includes(entry.name))
  return {
    errorCode: Errors.NONE,
    errorMessage: null,
    resourceType: resource.resourceType,
    resourceName: resource.resourceName,
    configs: wanted.map(({ name, value, readOnly, configSource, isSensitive, configType, synonyms, documentation }) => {
      const told = request.includeSynonyms ? synonyms : []
      const doc = request.includeDocumentation ? documentation : null
      return { name, value, readOnly, configSource, isSensitive, configType, synonyms: told, documentation: doc }
    }),
  }
}

function entriesOf({ resourceType, resourceName }: Resource, parts: ApiParts): ConfigEntry[] | Refusal {
  if (resourceType === ResourceType.TOPIC) {
    const problem = topicNameProblem(resourceName)
    if (problem !== null) return { error: Errors.INVALID_TOPIC_EXCEPTION, message: problem }
    const topic = parts.metadata.state.topicByName(resourceName)
    if (topic === null) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION, message: null }
    return topicEntries(topic.name, topic.configs, parts.brokerConfigs)
  }
  if (resourceType === ResourceType.BROKER) return brokerResource(resourceName, parts)
  if (resourceType === ResourceType.GROUP && resourceName !== '')
    return groupEntries(parts.metadata.state.groupConfigs(resourceName), parts.brokerConfigs)
  return { error: Errors.INVALID_REQUEST, message: `Unsupported resource type: ${resourceType}` }
}

function brokerResource(name: string, parts: ApiParts): ConfigEntry[] | Refusal {
  const { metadata, brokerConfigs } = parts
  if (name === '') return clusterDefaultEntries(metadata.state.brokerConfigs(''))
  const invalid = (message: string): Refusal => ({ error: Errors.INVALID_REQUEST, message })
  if (!/^-?\d+$/.test(name)) return invalid(`Broker id must be an integer, but it is: ${name}`)
  if (Number(name) === metadata.nodeId) return brokerEntries(brokerConfigs)
  return invalid(`Unexpected broker id, expected ${metadata.nodeId} or empty string, but received ${name}`)
}

function refused({ resourceType, resourceName }: Resource, { error, message }: Refusal): Answer {
  return { errorCode: error, errorMessage: message, resourceType, resourceName, configs: [] }
}

function fail(request: Request, error: number): ResponseOf<32> {
  return { throttleTimeMs: 0, results: request.resources.map((resource) => refused(resource, { error, message: null })) }
}
