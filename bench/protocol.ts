/**
 * Micro-benchmark of the codec: median time of one call.
 * usage: node bench/protocol.ts
 */
import { decodeRequest, encodeRequest, encodeResponse, decodeResponse } from '../protocol/index.ts'

const TOPIC_ID = '00112233-4455-6677-8899-aabbccddee'
const ids = Array.from({ length: 50 }, (_, i) => TOPIC_ID + String(i).padStart(2, '0'))

function bytes(encoded: { chunks: Uint8Array[] }): Buffer {
  return Buffer.concat(encoded.chunks)
}

/** The median over batches of calls, in microseconds. */
function medianUs(call: () => unknown, calls = 2000): number {
  for (let i = 0; i < calls; i++) call()
  const times = Array.from({ length: 21 }, () => {
    const start = process.hrtime.bigint()
    for (let i = 0; i < calls / 10; i++) call()
    return Number(process.hrtime.bigint() - start) / (calls / 10) / 1000
  })
  return times.toSorted((a, b) => a - b)[10]
}

const fetchPartitions = Array.from({ length: 10 }, (_, partition) => ({
  partition,
  fetchOffset: 2 ** 33 + partition,
  partitionMaxBytes: 1 << 20,
}))
const fetchRequest = { maxWaitMs: 500, minBytes: 1, topics: ids.map((topicId) => ({ topicId, partitions: fetchPartitions })) }
const metadataPartitions = Array.from({ length: 10 }, (_, partitionIndex) => ({
  errorCode: 0,
  partitionIndex,
  leaderId: 1,
  leaderEpoch: 5,
  replicaNodes: [1, 2, 3],
  isrNodes: [1, 2, 3],
  offlineReplicas: [],
}))
const metadataResponse = {
  brokers: [1, 2, 3].map((nodeId) => ({ nodeId, host: `broker-${nodeId}.example`, port: 9092 })),
  topics: ids.map((topicId, i) => ({ errorCode: 0, name: `topic-${i}`, topicId, partitions: metadataPartitions })),
}
const produceRequest = {
  acks: -1,
  timeoutMs: 30000,
  topicData: [{ topicId: ids[0], partitionData: [{ index: 0, records: Buffer.alloc(1 << 14) }] }],
}
const produceResponse = { responses: [{ topicId: ids[0], partitionResponses: [{ index: 0, errorCode: 0, baseOffset: 2 ** 33 }] }] }
const records = Array.from({ length: 16 }, () => Buffer.alloc(1 << 16))
const fetchResponse = {
  responses: [{ topicId: ids[0], partitions: [{ partitionIndex: 0, errorCode: 0, highWatermark: 2 ** 33, records }] }],
}

const fetchBytes = bytes(encodeRequest(1, 13, fetchRequest))
const metadataBytes = bytes(encodeResponse(3, 12, metadataResponse))
const produceBytes = bytes(encodeRequest(0, 13, produceRequest))
const cases: [string, () => unknown][] = [
  [`decode Fetch v13, 500 partitions, ${fetchBytes.length} bytes`, () => decodeRequest(1, 13, fetchBytes)],
  [`encode Metadata v12, 500 partitions, ${metadataBytes.length} bytes`, () => encodeResponse(3, 12, metadataResponse)],
  ['decode Metadata v12', () => decodeResponse(3, 12, metadataBytes)],
  ['encode Fetch v13', () => encodeRequest(1, 13, fetchRequest)],
  ['decode Produce v13, 1 partition, 16 KiB', () => decodeRequest(0, 13, produceBytes)],
  ['encode Produce v13 response, 1 partition', () => encodeResponse(0, 13, produceResponse)],
  ['encode Fetch v13 response, 16 slices of 64 KiB', () => encodeResponse(1, 13, fetchResponse)],
]
for (const [name, call] of cases) console.log(`${medianUs(call).toFixed(2).padStart(9)} µs  ${name}`)
