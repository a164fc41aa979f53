/**
 * DescribeProducers (61): the producers that partitions remember, for tools that look for hanging transactions (KIP-664). Served v0.
 *
 * - By producer id: epoch, last sequence (-1 in an epoch without records), time of the last append, coordinator epoch (always 0: there
 *   is no coordinator to be fenced), and the offset at which an open transaction begins, or -1.
 * - An unknown partition: UNKNOWN_TOPIC_OR_PARTITION; an invalid topic name: INVALID_TOPIC_EXCEPTION.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { ProducerView } from '../metadata/view.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(61, { min: 0, max: 0 }, { handle, fail })

type Request = RequestOf<61>

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<61>> {
  await parts.metadata.barrier()
  const { state } = parts.metadata
  const topics = request.topics.map(({ name, partitionIndexes }) => {
    const topic = state.topicByName(name)
    const partitions = partitionIndexes.map((partitionIndex) => {
      if (topic === null || state.partition(topic.topic, partitionIndex) === null)
        return { partitionIndex, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, activeProducers: [] }
      const producers = [...state.producers(topic.topic, partitionIndex)].sort((a, b) => a.producerId - b.producerId)
      return { partitionIndex, errorCode: Errors.NONE, activeProducers: producers.map(active) }
    })
    return { name, partitions }
  })
  return { throttleTimeMs: 0, topics }
}

function active(producer: ProducerView): ResponseOf<61>['topics'][number]['partitions'][number]['activeProducers'][number] {
  return {
    producerId: producer.producerId,
    producerEpoch: producer.epoch,
    lastSequence: producer.batches.at(-1)?.lastSequence ?? -1,
    lastTimestamp: producer.lastAppendMs,
    coordinatorEpoch: 0,
    currentTxnStartOffset: producer.transactionStartOffset,
  }
}

function fail(request: Request, errorCode: number): ResponseOf<61> {
  const topics = request.topics.map(({ name, partitionIndexes }) => ({
    name,
    partitions: partitionIndexes.map((partitionIndex) => ({ partitionIndex, errorCode, activeProducers: [] })),
  }))
  return { throttleTimeMs: 0, topics }
}
