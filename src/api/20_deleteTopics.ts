/**
 * DeleteTopics (20): deletes topics by name, or from v6 on by name or id. Served v1–6.
 *
 * - Unknown name: UNKNOWN_TOPIC_OR_PARTITION; unknown id: UNKNOWN_TOPIC_ID; both or neither given, or one topic given twice:
 *   INVALID_REQUEST; delete.topic.enable=false: TOPIC_DELETION_DISABLED (INVALID_REQUEST before v3).
 * - Records, group offsets and producers of the topic go at once; a topic made anew under the name has another id, another table,
 *   and offsets from 0.
 * - `table.on.delete=keep` (the default) first converts what is not in the table yet, then keeps the table under its name with the
 *   time; `drop` deletes it after the grace time, as does `table.enable=false` (T20). When the conversion fails the topic stays, with REQUEST_TIMED_OUT: no row
 *   is lost by a deletion that promised to keep it.
 *
 * v1 throttle time · v4 flexible · v5 error message · v6 topic ids.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { TopicView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { adminFailure } from './support/failures.ts'
import { findTopic, ZERO_UUID } from './support/topics.ts'

export default serve(20, { min: 1, max: 6 }, { handle, fail })

type Request = RequestOf<20>
type Answer = ResponseOf<20>['responses'][number]

interface Asked {
  readonly name: string | null
  readonly topicId: string
}

interface Outcome {
  readonly error: number
  readonly message: string | null
}

const DONE: Outcome = { error: Errors.NONE, message: null }

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<20>> {
  const asked = askedTopics(request, context)
  if (!parts.brokerConfigs.boolean('delete.topic.enable')) {
    const error = context.version < 3 ? Errors.INVALID_REQUEST : Errors.TOPIC_DELETION_DISABLED
    return { throttleTimeMs: 0, responses: asked.map((topic) => toAnswer(topic, { error, message: 'Topic deletion is disabled.' })) }
  }
  const plans = planDeletions(asked, parts)
  const responses = plans.map(async ({ topic, names, outcome }) => toAnswer(names, outcome ?? (await deleteTopic(topic!, parts))))
  return { throttleTimeMs: 0, responses: await Promise.all(responses) }
}

/** One answer of the response: a topic to delete, or an outcome that is known already. */
interface Plan {
  readonly topic: TopicView | null
  readonly names: Asked
  readonly outcome: Outcome | null
}

/** What was asked for several times is answered once, with an error, as Kafka does. */
function planDeletions(asked: readonly Asked[], parts: ApiParts): Plan[] {
  const plans = new Map<string, Plan>()
  const repeated: Outcome = { error: Errors.INVALID_REQUEST, message: 'Duplicate topic name.' }
  for (const one of asked) {
    const found = resolve(one, parts)
    const topic = 'topic' in found ? found.topic : null
    const key = topic === null ? `${one.name}/${one.topicId}` : String(topic.topic)
    const names = topic === null ? one : { name: topic.name, topicId: topic.topicId }
    const outcome = 'topic' in found ? null : found
    const before = plans.get(key)
    if (before === undefined) plans.set(key, { topic, names, outcome })
    else plans.set(key, { topic: null, names: before.names, outcome: repeated })
  }
  return Array.from(plans.values())
}

function askedTopics(request: Request, context: RequestContext): Asked[] {
  return context.version >= 6 ? request.topics : request.topicNames.map((name) => ({ name, topicId: ZERO_UUID }))
}

function resolve({ name, topicId }: Asked, parts: ApiParts): { readonly topic: TopicView } | Outcome {
  const byId = topicId !== ZERO_UUID
  if (byId && name !== null) return { error: Errors.INVALID_REQUEST, message: 'You may not specify both topic name and topic id.' }
  if (!byId && name === null) return { error: Errors.INVALID_REQUEST, message: 'Neither topic name nor id were specified.' }
  const topic = findTopic(parts.metadata.state, byId ? { byId, topicId } : { byId, name: name! })
  if (typeof topic !== 'number') return { topic }
  return { error: topic, message: byId ? 'This server does not host this topic ID.' : 'This server does not host this topic-partition.' }
}

async function deleteTopic(topic: TopicView, parts: ApiParts): Promise<Outcome> {
  const { metadata, logger, clock } = parts
  const { enable, onDelete, fileGraceMs } = parts.topicSettings(topic).table
  const table = metadata.state.table(topic.topic)
  // a kept table is listed: one that was never shown must not appear by the deletion of its topic
  const keep = enable && onDelete === 'keep' && table !== null
  if (keep) {
    try {
      await parts.convertTopic(topic.topic)
    } catch (failure) {
      logger.warn(
        { err: failure, topic: topic.name },
        'a topic is not deleted: its last records could not be brought into the table that is kept',
      )
      return {
        error: Errors.REQUEST_TIMED_OUT,
        message: 'The last records could not be brought into the table that is kept (table.on.delete=keep); try again.',
      }
    }
  }
  try {
    const keepTableAs = keep ? keptName(table.name, clock.wallMs()) : ''
    const result = await metadata.propose({ kind: 'deleteTopic', topic: topic.topic, keepTableAs, graceMs: fileGraceMs })
    return result.kind === 'refused' ? { error: result.error, message: result.reason } : DONE
  } catch (failure) {
    const error = adminFailure(failure)
    if (error === Errors.UNKNOWN_SERVER_ERROR) throw failure
    logger.warn({ err: failure, topic: topic.name }, 'a topic could not be deleted')
    return { error, message: 'The metadata log could not be written.' }
  }
}

/** `orders_20261130T194500` for a table `orders`. */
function keptName(name: string, nowMs: number): string {
  return `${name}_${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}`
}

function toAnswer({ name, topicId }: Asked, { error, message }: Outcome): Answer {
  return { name, topicId, errorCode: error, errorMessage: message }
}

function fail(request: Request, error: number, context: RequestContext): ResponseOf<20> {
  return { responses: askedTopics(request, context).map((topic) => toAnswer(topic, { error, message: null })) }
}
