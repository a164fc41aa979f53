/**
 * CreatePartitions (37): raises the number of partitions of topics. Served v0–3.
 *
 * - Per topic: UNKNOWN_TOPIC_OR_PARTITION (a name that cannot be is just unknown), INVALID_PARTITIONS when the count is no increase,
 *   INVALID_REPLICA_ASSIGNMENT when assignments are given that are not one a new partition; a name given twice: INVALID_REQUEST.
 *   Others of the request are changed.
 * - Manual assignments are checked in shape, not against the nodes there are, as in CreateTopics: any pod serves any partition.
 * - New partitions are empty and go to the live nodes as all do; records that are there stay where they are, in log and table.
 * - validate_only answers the same and changes nothing. More than 10,000 new partitions in one request: POLICY_VIOLATION (Kafka's limit).
 *
 * v2 flexible · v3 THROTTLING_QUOTA_EXCEEDED, which is never answered as there are no quotas.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { TopicView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { replicasProblem } from './support/assignments.ts'
import { adminFailure } from './support/failures.ts'
import type { ConfigError } from './support/topicConfigs.ts'

export default serve(37, { min: 0, max: 3 }, { handle, fail })

type Request = RequestOf<37>
type Topic = Request['topics'][number]
type Answer = ResponseOf<37>['results'][number]

const NEW_PARTITIONS_MAX = 10_000

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<37>> {
  await parts.metadata.barrier()
  const counts = new Map<string, number>()
  for (const { name } of request.topics) counts.set(name, (counts.get(name) ?? 0) + 1)
  let planned = 0
  const answers = new Map<string, Promise<Answer>>()
  const refuse = (name: string, error: number, message: string | null): void =>
    void answers.set(name, Promise.resolve(toAnswer(name, { error, message })))
  for (const topic of request.topics) {
    const { name, count } = topic
    const known = parts.metadata.state.topicByName(name)
    const problem = known === null ? null : problemOf(topic, known)
    if (counts.get(name)! > 1) refuse(name, Errors.INVALID_REQUEST, 'Duplicate topic name.')
    else if (known === null) refuse(name, Errors.UNKNOWN_TOPIC_OR_PARTITION, null)
    else if (problem !== null) refuse(name, problem.error, problem.message)
    else if (planned + count - known.partitions > NEW_PARTITIONS_MAX)
      refuse(name, Errors.POLICY_VIOLATION, 'Excessively large number of additional partitions per request.')
    else {
      planned += count - known.partitions
      answers.set(
        name,
        Promise.resolve(request.validateOnly ? null : raise(known, count, parts)).then((outcome) => toAnswer(name, outcome)),
      )
    }
  }
  return { throttleTimeMs: 0, results: await Promise.all(answers.values()) }
}

/** What is wrong with the request for a topic, in Kafka's words (K: ReplicationControlManager), or null. */
function problemOf({ name, count, assignments }: Topic, { partitions }: TopicView): ConfigError | null {
  const added = count - partitions
  const invalid = (message: string): ConfigError => ({ error: Errors.INVALID_PARTITIONS, message })
  if (added === 0) return invalid(`Topic already has ${partitions} partition(s).`)
  if (added < 0) return invalid(`The topic ${name} currently has ${partitions} partition(s); ${count} would not be an increase.`)
  if (assignments === null) return null
  if (assignments.length !== added) {
    return {
      error: Errors.INVALID_REPLICA_ASSIGNMENT,
      message: `Attempted to add ${added} additional partition(s), but only ${assignments.length} assignment(s) were specified.`,
    }
  }
  for (const { brokerIds } of assignments) {
    const message = replicasProblem(brokerIds, assignments[0].brokerIds.length)
    if (message !== null) return { error: Errors.INVALID_REPLICA_ASSIGNMENT, message }
  }
  return null
}

/** null when it was done. */
async function raise({ topic, name }: TopicView, partitions: number, { metadata, logger }: ApiParts): Promise<Failure | null> {
  try {
    const result = await metadata.propose({ kind: 'createPartitions', topic, partitions })
    return result.kind === 'refused' ? { error: result.error, message: result.reason } : null
  } catch (failure) {
    const error = adminFailure(failure)
    if (error === Errors.UNKNOWN_SERVER_ERROR) throw failure
    logger.warn({ err: failure, topic: name }, 'partitions could not be added')
    return { error, message: 'The metadata log could not be written.' }
  }
}

interface Failure {
  readonly error: number
  readonly message: string | null
}

function toAnswer(name: string, failure: Failure | null): Answer {
  return { name, errorCode: failure?.error ?? Errors.NONE, errorMessage: failure?.message ?? null }
}

function fail(request: Request, error: number): ResponseOf<37> {
  return { results: request.topics.map(({ name }) => toAnswer(name, { error, message: null })), throttleTimeMs: 0 }
}
