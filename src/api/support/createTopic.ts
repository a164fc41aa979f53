import { Errors } from '../../../protocol/index.ts'
import type { TopicView } from '../../metadata/view.ts'
import type { ApiParts } from '../parts.ts'
import { adminFailure } from './failures.ts'
import { collisionKey, topicNameProblem } from './topics.ts'

/** A table's name has at most this many characters (base/config: table.name). */
const TABLE_NAME_MAX_LENGTH = 200

export type Created =
  { readonly error: 0; readonly topic: TopicView } | { readonly error: number; readonly message: string; readonly topic: null }

function refused(error: number, message: string): Created {
  return { error, message, topic: null }
}

/** Why a topic of this name cannot be made, or null. `taken` are the collision keys of topics and of earlier items of the request. */
export function newTopicProblem(name: string, parts: ApiParts, taken: ReadonlyMap<string, string>): Exclude<Created, { error: 0 }> | null {
  const problem = topicNameProblem(name)
  if (problem !== null) return { error: Errors.INVALID_TOPIC_EXCEPTION, message: problem, topic: null }
  if (parts.metadata.state.topicByName(name) !== null)
    return { error: Errors.TOPIC_ALREADY_EXISTS, message: `Topic '${name}' already exists.`, topic: null }
  const other = taken.get(collisionKey(name))
  if (other === undefined) return null
  return { error: Errors.INVALID_TOPIC_EXCEPTION, message: `Topic '${name}' collides with existing topic: ${other}`, topic: null }
}

/** Names by collision key of all topics. Only worth building for names that have a '.' or '_' in them. */
export function collisionKeys(parts: ApiParts, names: readonly string[]): Map<string, string> {
  const taken = new Map<string, string>()
  if (!names.some((name) => /[._]/.test(name))) return taken
  for (const topic of parts.metadata.state.topics()) if (/[._]/.test(topic.name)) taken.set(collisionKey(topic.name), topic.name)
  return taken
}

/** Makes a topic whose name and configs were checked. A topic that somebody made meanwhile is TOPIC_ALREADY_EXISTS. */
export async function createTopic(
  name: string,
  partitions: number,
  configs: Readonly<Record<string, string>>,
  parts: ApiParts,
): Promise<Created> {
  const { metadata, logger, randomUuid } = parts
  const tableName = configs['table.name'] || collisionKey(name).slice(0, TABLE_NAME_MAX_LENGTH)
  const table = { namespace: configs['table.namespace'] ?? 'default', name: tableName, uuid: randomUuid() }
  try {
    const result = await metadata.propose({ kind: 'createTopic', name, topicId: randomUuid(), partitions, configs, table })
    if (result.kind === 'refused') return refused(result.error, result.reason)
    const topic = result.kind === 'topic' ? metadata.state.topicByNumber(result.topic) : null
    if (topic === null) return refused(Errors.UNKNOWN_TOPIC_OR_PARTITION, `Topic '${name}' was deleted as soon as it was made.`)
    return { error: Errors.NONE, topic }
  } catch (error) {
    const code = adminFailure(error)
    if (code === Errors.UNKNOWN_SERVER_ERROR) throw error
    logger.warn({ err: error, topic: name }, 'a topic could not be created')
    return refused(code, 'The metadata log could not be written.')
  }
}
