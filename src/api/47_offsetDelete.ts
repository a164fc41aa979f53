/**
 * OffsetDelete (47): removes committed offsets of a group (KIP-496). Served v0.
 *
 * - An unknown group: GROUP_ID_NOT_FOUND; one with members that is not of consumers: NON_EMPTY_GROUP; both at the top, without topics.
 * - By partition: GROUP_SUBSCRIBED_TO_TOPIC while a member subscribes to the topic, UNKNOWN_TOPIC_OR_PARTITION. An offset that is not there is
 *   no error.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(47, { min: 0, max: 0 }, { handle, fail: (_request, error) => failed(error) })

async function handle(request: RequestOf<47>, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<47>> {
  await parts.metadata.barrier()
  const { state } = parts.metadata
  const items: { topic: number; partition: number }[] = []
  const places = request.topics.map(({ name, partitions }) => {
    const topic = state.topicByName(name)
    return partitions.map(({ partitionIndex }) =>
      topic === null || state.partition(topic.topic, partitionIndex) === null
        ? -1
        : items.push({ topic: topic.topic, partition: partitionIndex }) - 1,
    )
  })
  const outcome = await parts.groups.deleteOffsets(request.groupId, items)
  if (outcome.error !== Errors.NONE) return failed(outcome.error)
  const topics = request.topics.map(({ name, partitions }, t) => ({
    name,
    partitions: partitions.map(({ partitionIndex }, p) => {
      const at = places[t][p]
      return { partitionIndex, errorCode: at < 0 ? Errors.UNKNOWN_TOPIC_OR_PARTITION : outcome.errors[at] }
    }),
  }))
  return { errorCode: Errors.NONE, throttleTimeMs: 0, topics }
}

function failed(errorCode: number): ResponseOf<47> {
  return { errorCode, throttleTimeMs: 0, topics: [] }
}
