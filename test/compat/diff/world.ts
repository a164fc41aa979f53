import { BatchBuilder } from '../../../protocol/records/build.ts'
import { altered } from '../limits/client.ts'
import type { Side } from './side.ts'

/** A fixed time, so that batches have the same bytes in every run. */
export const THEN_MS = 1_760_000_000_000

/** A batch of records at fixed times. */
export function batch(values: readonly string[], timestampMs = THEN_MS): Buffer {
  const builder = new BatchBuilder()
  values.forEach((text, i) => {
    const value = Buffer.from(text)
    builder.append(i, timestampMs + i, null, 0, 0, value, 0, value.length)
  })
  return Buffer.from(builder.finish())
}

/** The same with a producer's id, epoch and first sequence; `isTransactional` sets its bit. */
export function producerBatch(
  values: readonly string[],
  producerId: number,
  epoch: number,
  sequence: number,
  isTransactional = false,
): Buffer {
  return altered(batch(values), (bytes) => {
    if (isTransactional) bytes.writeInt16BE(bytes.readInt16BE(21) | 0x10, 21)
    bytes.writeBigInt64BE(BigInt(producerId), 43)
    bytes.writeInt16BE(epoch, 51)
    bytes.writeInt32BE(sequence, 53)
  })
}

/** Makes a topic outside of the record; its id. Waits until the broker that leads it says so. */
export async function makeTopic(
  side: Side,
  name: string,
  numPartitions = 2,
  configs: Readonly<Record<string, string>> = {},
): Promise<string> {
  const topic = {
    name,
    numPartitions,
    replicationFactor: 1,
    assignments: [],
    // the records are of a fixed day, long past
    configs: Object.entries({ 'retention.ms': '-1', ...configs }).map(([key, value]) => ({ name: key, value })),
  }
  const made = await side.settled(19, 7, { topics: [topic], timeoutMs: 30_000 })
  if (typeof made === 'string') throw new Error(`${side.name}: no answer to the creation of ${name}`)
  const { errorCode, topicId } = (made.value as { topics: { errorCode: number; topicId: string }[] }).topics[0]!
  if (errorCode !== 0) throw new Error(`${side.name}: creating ${name}: error ${errorCode}`)
  await known(side, name, numPartitions)
  return topicId
}

/** Waits until Metadata tells every partition of a topic with its leader. */
export async function known(side: Side, name: string, count: number): Promise<void> {
  for (let left = 100; left > 0; left--) {
    const answer = await side.settled(2, 6, {
      replicaId: -1,
      isolationLevel: 0,
      topics: [{ name, partitions: Array.from({ length: count }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1 })) }],
    })
    if (typeof answer !== 'string') {
      const { topics } = answer.value as { topics: { partitions: { errorCode: number }[] }[] }
      if (topics[0]!.partitions.every(({ errorCode }) => errorCode === 0)) return
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${side.name} does not know ${name}`)
}

/** Asks for both kinds of coordinator until there are: Kafka makes their topics at the first request. */
export async function warm(side: Side): Promise<void> {
  await makeTopic(side, 'warm', 1)
  await side.settled(10, 4, { keyType: 0, coordinatorKeys: ['warm'] })
  await side.settled(10, 4, { keyType: 1, coordinatorKeys: ['warm'] })
  await side.settled(9, 8, { groups: [{ groupId: 'warm', topics: null }], requireStable: false })
  const ids = Array.from({ length: 20 }, (_, i) => `warm-${i}`)
  for (const transactionalId of ids)
    await side.settled(22, 4, { transactionalId, transactionTimeoutMs: 60_000, producerId: -1, producerEpoch: -1 })
  await side.settled(65, 0, { transactionalIds: ids })
  for (const groupId of ids) await side.settled(68, 1, { groupId, memberId: 'warm', memberEpoch: -1 })
}
