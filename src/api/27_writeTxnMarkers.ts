/**
 * WriteTxnMarkers (27): ends transactions on single partitions, behind the coordinator. Served v1–2.
 *
 * - Between pods nobody needs it: a transaction ends in one entry. It is served for the abort tool (`kafka-transactions.sh abort`,
 *   KIP-664), which ends a transaction that nobody else would.
 * - The marker is written whether a transaction is open there or not. An epoch below that of the producer's records:
 *   INVALID_PRODUCER_EPOCH; so is the same one when the marker is of version 2 and a transaction is open (KIP-890).
 * - An unknown partition: UNKNOWN_TOPIC_OR_PARTITION.
 *
 * v1 flexible · v2 transaction version.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import type { WriteMarkers } from '../metadata/commands.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { proposeOrFail, servesTransactions } from './support/transactions.ts'

export default serve(27, { min: 1, max: 2 }, { handle, fail })

type Request = RequestOf<27>

async function handle(request: Request, _context: RequestContext, parts: ApiParts): Promise<ResponseOf<27>> {
  if (!servesTransactions(parts)) return fail(request, Errors.COORDINATOR_NOT_AVAILABLE)
  const markers: WriteMarkers['markers'][number][] = []
  const places = request.markers.map((marker) =>
    marker.topics.map((topic) => {
      const number = parts.metadata.state.topicByName(topic.name)?.topic
      return topic.partitionIndexes.map((partition) => {
        const { producerId, producerEpoch, transactionResult: isCommit, transactionVersion } = marker
        if (number === undefined || partition < 0) return -1
        if (producerId < 0 || producerEpoch < 0) return -2
        const version = Math.max(0, transactionVersion)
        return markers.push({ topic: number, partition, producerId, producerEpoch, isCommit, transactionVersion: version }) - 1
      })
    }),
  )
  const result = markers.length === 0 ? null : await proposeOrFail(parts, { kind: 'writeMarkers', markers })
  const errorOf = (place: number): number => {
    if (place === -1) return Errors.UNKNOWN_TOPIC_OR_PARTITION
    if (place === -2) return Errors.INVALID_PRODUCER_EPOCH
    if (typeof result === 'number') return result
    return result?.kind === 'markers' ? result.errors[place] : Errors.UNKNOWN_SERVER_ERROR
  }
  return answer(request, (m, t, p) => errorOf(places[m][t][p]))
}

function answer(request: Request, errorAt: (marker: number, topic: number, partition: number) => number): ResponseOf<27> {
  return {
    markers: request.markers.map(({ producerId, topics }, m) => ({
      producerId,
      topics: topics.map(({ name, partitionIndexes }, t) => ({
        name,
        partitions: partitionIndexes.map((partitionIndex, p) => ({ partitionIndex, errorCode: errorAt(m, t, p) })),
      })),
    })),
  }
}

function fail(request: Request, error: number): ResponseOf<27> {
  return answer(request, () => error)
}
