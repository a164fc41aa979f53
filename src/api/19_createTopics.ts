/**
 * CreateTopics (19): makes topics. Served v2–7.
 *
 * - Per topic: INVALID_TOPIC_EXCEPTION for a name that cannot be or that differs from another in '.' and '_' alone,
 *   TOPIC_ALREADY_EXISTS, INVALID_PARTITIONS, INVALID_REPLICATION_FACTOR, INVALID_CONFIG for an unknown key or a bad value;
 *   a name given twice: INVALID_REQUEST. Others of the request are made.
 * - -1 partitions or replicas: the broker's default. Any replication factor from 1 on is accepted, as the object store keeps the
 *   copies; the answer states what Metadata will show.
 * - Manual assignments are checked in shape, not against the nodes there are: any pod serves any partition.
 * - Topic configs decide about the table as well (`table.…`, docs/CONFIG.md).
 * - validate_only answers the same and makes nothing. More than 10,000 partitions in one request: POLICY_VIOLATION (Kafka's limit).
 *
 * v4 -1 for the defaults (KIP-464) · v5 flexible, answers partitions, replicas and every effective config (KIP-525) ·
 * v6 THROTTLING_QUOTA_EXCEEDED · v7 answers the topic id.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { assignmentProblem } from './support/assignments.ts'
import { topicEntries } from './support/configEntries.ts'
import { collisionKeys, createTopic, newTopicProblem } from './support/createTopic.ts'
import { collisionKey } from './support/topics.ts'
import { isConfigError, newTopicConfigs, type ConfigError } from './support/topicConfigs.ts'

export default serve(19, { min: 2, max: 7 }, { handle, fail })

type Request = RequestOf<19>
type Topic = Request['topics'][number]
type TopicAnswer = ResponseOf<19>['topics'][number]

const PARTITIONS_MAX = 10_000

interface Plan {
  readonly name: string
  readonly partitions: number
  readonly replicationFactor: number
  readonly configs: Readonly<Record<string, string>>
}

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<19>> {
  const counts = new Map<string, number>()
  for (const { name } of request.topics) counts.set(name, (counts.get(name) ?? 0) + 1)
  const taken = collisionKeys(parts, [...counts.keys()])
  let planned = 0
  const answers = new Map<string, Promise<TopicAnswer>>()
  for (const topic of request.topics) {
    const { name } = topic
    if (counts.get(name)! > 1) {
      answers.set(name, Promise.resolve(refused(name, { error: Errors.INVALID_REQUEST, message: 'Duplicate topic name.' })))
      continue
    }
    const plan = planTopic(topic, parts, taken)
    if ('error' in plan) answers.set(name, Promise.resolve(refused(name, plan)))
    else if ((planned += plan.partitions) > PARTITIONS_MAX) {
      answers.set(
        name,
        Promise.resolve(refused(name, { error: Errors.POLICY_VIOLATION, message: 'Excessively large number of partitions per request.' })),
      )
    } else {
      taken.set(collisionKey(name), name)
      answers.set(name, make(plan, request.validateOnly, context, parts))
    }
  }
  return { throttleTimeMs: 0, topics: await Promise.all(answers.values()) }
}

/** What the topic will be, or why it cannot. */
function planTopic(topic: Topic, parts: ApiParts, taken: ReadonlyMap<string, string>): Plan | ConfigError {
  const { name, assignments, numPartitions, replicationFactor } = topic
  const problem = newTopicProblem(name, parts, taken)
  if (problem !== null) return problem
  const configs = newTopicConfigs(topic.configs)
  if (isConfigError(configs)) return configs
  if (assignments.length > 0) {
    const wrong = assignmentProblem(topic)
    return wrong ?? { name, partitions: assignments.length, replicationFactor: assignments[0].brokerIds.length, configs }
  }
  if (replicationFactor < -1 || replicationFactor === 0) {
    return {
      error: Errors.INVALID_REPLICATION_FACTOR,
      message: 'Replication factor must be larger than 0, or -1 to use the default value.',
    }
  }
  if (numPartitions < -1 || numPartitions === 0) {
    return { error: Errors.INVALID_PARTITIONS, message: 'Number of partitions was set to an invalid non-positive value.' }
  }
  const { brokerConfigs } = parts
  return {
    name,
    partitions: numPartitions === -1 ? brokerConfigs.number('num.partitions') : numPartitions,
    replicationFactor: replicationFactor === -1 ? brokerConfigs.number('default.replication.factor') : replicationFactor,
    configs,
  }
}

async function make(plan: Plan, validateOnly: boolean, context: RequestContext, parts: ApiParts): Promise<TopicAnswer> {
  const { name, partitions, configs } = plan
  // Kafka answers an id also when nothing is made.
  let topicId = parts.randomUuid()
  if (!validateOnly) {
    const created = await createTopic(name, partitions, configs, parts)
    if (created.topic === null) return refused(name, created)
    topicId = created.topic.topicId
  }
  const nodes = parts.nodes(context.connection.listener).length
  return {
    name,
    topicId,
    errorCode: Errors.NONE,
    errorMessage: null,
    numPartitions: partitions,
    replicationFactor: Math.min(plan.replicationFactor, nodes),
    configs: topicEntries(name, new Map(Object.entries(configs)), parts.brokerConfigs).map((entry) => ({
      name: entry.name,
      value: entry.value,
      readOnly: entry.readOnly,
      configSource: entry.configSource,
      isSensitive: entry.isSensitive,
    })),
  }
}

function refused(name: string, { error, message }: ConfigError): TopicAnswer {
  return { name, errorCode: error, errorMessage: message, configs: [] }
}

function fail(request: Request, error: number): ResponseOf<19> {
  return { topics: request.topics.map(({ name }) => ({ name, errorCode: error, errorMessage: null, configs: [] })) }
}
