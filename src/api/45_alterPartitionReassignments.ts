/**
 * AlterPartitionReassignments (45): moves partitions to other replicas (KIP-455). Served v0–1.
 *
 * - Where a partition is follows from the nodes that are ready; nothing is copied and nothing moves by hand. To the replicas it has: NONE, as
 *   Kafka answers a move that changes nothing. To any others: INVALID_REPLICA_ASSIGNMENT, as Kafka answers replicas that cannot be.
 * - Null cancels a move: NO_REASSIGNMENT_IN_PROGRESS, as none ever is. Unknown: UNKNOWN_TOPIC_OR_PARTITION.
 *
 * v0 is flexible · v1 may forbid to change the replication factor: INVALID_REPLICATION_FACTOR.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { replicasProblem } from './support/assignments.ts'
import { describePartition } from './support/describePartition.ts'
import { shownName } from './support/topics.ts'

export default serve(45, { min: 0, max: 1 }, { handle, fail })

type Request = RequestOf<45>
type Partition = ResponseOf<45>['responses'][number]['partitions'][number]
type Outcome = Pick<Partition, 'errorCode' | 'errorMessage'>

async function handle(request: Request, context: RequestContext, parts: ApiParts): Promise<ResponseOf<45>> {
  await parts.metadata.barrier()
  const { allowReplicationFactorChange } = request
  const responses = request.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex, replicas }) => ({
      partitionIndex,
      ...outcomeOf(name, partitionIndex, replicas, { allowReplicationFactorChange, listener: context.connection.listener }, parts),
    })),
  }))
  return { throttleTimeMs: 0, errorCode: Errors.NONE, errorMessage: null, responses, allowReplicationFactorChange }
}

function outcomeOf(
  name: string,
  partition: number,
  replicas: readonly number[] | null,
  { allowReplicationFactorChange, listener }: { readonly allowReplicationFactorChange: boolean; readonly listener: string },
  parts: ApiParts,
): Outcome {
  const { state } = parts.metadata
  const topic = state.topicByName(name)
  if (topic === null)
    return { errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, errorMessage: `Unable to find a topic named ${shownName(name)}.` }
  if (state.partition(topic.topic, partition) === null)
    return { errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, errorMessage: `Unable to find partition ${name}:${partition}.` }
  if (replicas === null) return { errorCode: Errors.NO_REASSIGNMENT_IN_PROGRESS, errorMessage: null }
  const nodes = parts.nodes(listener)
  const impossible = (errorMessage: string): Outcome => ({ errorCode: Errors.INVALID_REPLICA_ASSIGNMENT, errorMessage })
  const problem = replicasProblem(replicas, replicas.length)
  if (problem !== null) return impossible(problem)
  const absent = replicas.find((replica) => !nodes.some(({ nodeId }) => nodeId === replica))
  if (absent !== undefined)
    return impossible(`The manual partition assignment includes broker ${absent}, but no such broker is registered.`)
  const { replicaNodes } = describePartition(topic, partition, nodes, parts)
  if (!allowReplicationFactorChange && replicas.length !== replicaNodes.length) {
    return {
      errorCode: Errors.INVALID_REPLICATION_FACTOR,
      errorMessage: `The replication factor is changed from ${replicaNodes.length} to ${replicas.length}`,
    }
  }
  const isSame = replicas.length === replicaNodes.length && replicas.every((replica) => replicaNodes.includes(replica))
  return isSame
    ? { errorCode: Errors.NONE, errorMessage: null }
    : impossible('Where a partition is follows from the nodes that are ready; every node can serve it, and there are no replicas to move.')
}

function fail(_request: Request, errorCode: number): ResponseOf<45> {
  return { throttleTimeMs: 0, errorCode, errorMessage: null, responses: [] }
}
