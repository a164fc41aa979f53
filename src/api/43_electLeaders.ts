/**
 * ElectLeaders (43): preferred and unclean leaders (KIP-183, KIP-460). Served v0–2.
 *
 * - The leader of a partition is always the first of its replicas, and there is always one, so that no election is ever needed:
 *   ELECTION_NOT_NEEDED, as Kafka says in that situation. Unknown topics and partitions: UNKNOWN_TOPIC_OR_PARTITION.
 * - Null asks for all partitions: every topic is answered, without those that need no election.
 * - Any other kind of election than 0 and 1: INVALID_REQUEST.
 *
 * v1 the kind of election, a top-level error · v2 flexible.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { shownName } from './support/topics.ts'

export default serve(43, { min: 0, max: 2 }, { handle, fail: (request, error) => failed(request, error, null) })

type Request = RequestOf<43>
type PartitionResult = ResponseOf<43>['replicaElectionResults'][number]['partitionResult'][number]

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<43>> {
  const { electionType, topicPartitions } = request
  if (electionType !== 0 && electionType !== 1) return failed(request, Errors.INVALID_REQUEST, `Unknown election type ${electionType}`)
  await parts.metadata.barrier()
  const { state } = parts.metadata
  const elect = (name: string, partitionId: number): PartitionResult => {
    const topic = state.topicByName(name)
    const unknown = (errorMessage: string): PartitionResult => ({
      partitionId,
      errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION,
      errorMessage,
    })
    if (topic === null) return unknown(`No such topic as ${shownName(name)}`)
    if (state.partition(topic.topic, partitionId) === null) return unknown(`No such partition as ${name}-${partitionId}`)
    return { partitionId, errorCode: Errors.ELECTION_NOT_NEEDED, errorMessage: 'Leader election not needed for topic partition.' }
  }
  const replicaElectionResults =
    topicPartitions === null
      ? Array.from(state.topics(), ({ name }) => ({ topic: name, partitionResult: [] }))
      : topicPartitions.map(({ topic, partitions }) => ({ topic, partitionResult: partitions.map((partition) => elect(topic, partition)) }))
  return { throttleTimeMs: 0, errorCode: Errors.NONE, replicaElectionResults }
}

function failed({ topicPartitions }: Request, errorCode: number, errorMessage: string | null): ResponseOf<43> {
  const replicaElectionResults = (topicPartitions ?? []).map(({ topic, partitions }) => ({
    topic,
    partitionResult: partitions.map((partitionId) => ({ partitionId, errorCode, errorMessage })),
  }))
  return { throttleTimeMs: 0, errorCode, replicaElectionResults }
}
