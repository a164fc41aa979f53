import { describe, expect, test } from 'vitest'
import { COPY_BELOW_BYTES } from '../../../protocol/codec/write.ts'
import {
  advertisedVersions,
  apis,
  decodeMessage,
  decodeRequest,
  decodeRequestHeader,
  decodeResponse,
  decodeResponseHeader,
  encodeMessage,
  encodeRequestFrame,
  encodeResponse,
  encodeResponseFrame,
  headerVersion,
  ProtocolError,
  servedVersions,
} from '../../../protocol/index.ts'
import type { ResponseOf } from '../../../protocol/index.ts'

const TOPIC_ID = '00112233-4455-6677-8899-aabbccddeeff'

function fetched(records: Uint8Array | readonly Uint8Array[] | null): ResponseOf<1> {
  const partition = { partitionIndex: 0, errorCode: 0, highWatermark: 9, records }
  return { responses: [{ topicId: TOPIC_ID, partitions: [partition, { ...partition, partitionIndex: 1 }] }] }
}

describe('record slices', () => {
  test('big ones are chunks by reference, small ones are copied', () => {
    const big = Buffer.alloc(COPY_BELOW_BYTES, 1)
    const small = Buffer.alloc(COPY_BELOW_BYTES - 1, 2)
    const { chunks, sizeBytes } = encodeResponse(1, 13, fetched([small, big, small, big, big]))
    expect(chunks.filter((chunk) => chunk === big)).toHaveLength(6)
    expect(chunks.some((chunk) => chunk.buffer === small.buffer)).toBe(false)
    expect(chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(sizeBytes)
    const decoded = decodeResponse(1, 13, Buffer.concat(chunks))
    const expected = Buffer.concat([small, big, small, big, big])
    for (const { records } of decoded.responses[0].partitions) expect(expected.equals(records as Uint8Array)).toBe(true)
  })

  test.each([4, 13])('null, empty and none in v%i', (version) => {
    const records = (value: Uint8Array | readonly Uint8Array[] | null): Uint8Array | null =>
      decodeResponse(1, version, Buffer.concat(encodeResponse(1, version, fetched(value)).chunks)).responses[0].partitions[1].records
    expect(records(null)).toBeNull()
    expect(records([])).toHaveLength(0)
    expect(records(Buffer.alloc(0))).toHaveLength(0)
  })

  test('one slice alone', () => {
    const batch = Buffer.alloc(70_000, 7)
    expect(encodeResponse(1, 4, fetched(batch)).chunks.filter((chunk) => chunk === batch)).toHaveLength(2)
  })
})

describe('buffers', () => {
  test('a message without records is one chunk, whatever its size', () => {
    const topics = Array.from({ length: 3000 }, (_, i) => ({ name: `topic-${i}-${'x'.repeat(50)}` }))
    const request = { topics }
    const { chunks, sizeBytes } = encodeMessage(apis[3].request, 8, request)
    expect(chunks).toHaveLength(1)
    expect(sizeBytes).toBe(chunks[0].length)
    expect(decodeMessage(apis[3].request, 8, Buffer.from(chunks[0])).value.topics?.map(({ name }) => name)).toEqual(
      topics.map(({ name }) => name),
    )
  })

  test('a tagged field over 127 and over 16383 bytes, over a growing buffer', () => {
    for (const count of [1, 20, 1000, 20_000]) {
      const nodeEndpoints = Array.from({ length: count }, (_, nodeId) => ({ nodeId, host: `host-${nodeId}`, port: 9092, rack: null }))
      const bytes = Buffer.concat(encodeResponse(1, 16, { responses: [], nodeEndpoints }).chunks)
      expect(decodeResponse(1, 16, bytes).nodeEndpoints).toEqual(nodeEndpoints)
    }
  })

  test('a small message does not keep the buffer of a big one before it alive', () => {
    encodeMessage(apis[3].request, 8, { topics: Array.from({ length: 10_000 }, () => ({ name: 'x'.repeat(100) })) })
    expect(encodeResponse(12, 0, { errorCode: 0 }).chunks[0].buffer.byteLength).toBeLessThanOrEqual(64 * 1024)
  })

  test('results stay as they are while others are made', () => {
    const kept = Array.from({ length: 3000 }, (_, i) => ({
      i,
      frame: encodeResponseFrame(12, 4, i, { errorCode: i % 100, throttleTimeMs: i }),
    }))
    for (const { i, frame } of kept) {
      const bytes = Buffer.concat(frame.chunks)
      const { correlationId, bodyAt } = decodeResponseHeader(12, 4, bytes, 4)
      expect([correlationId, decodeResponse(12, 4, bytes, bodyAt).throttleTimeMs]).toEqual([i, i])
    }
  })

  test('an error in the middle leaves nothing behind', () => {
    const bad = { responses: [{ topicId: 'no uuid', partitions: [] }] }
    expect(() => encodeResponse(1, 13, bad)).toThrow('FetchResponse v13: responses.topicId is no uuid: no uuid')
    expect(Buffer.concat(encodeResponseFrame(12, 0, 5, { errorCode: 3 }).chunks).toString('hex')).toBe('00000006000000050003')
  })
})

describe('frames', () => {
  test('the size counts header, body and record slices', () => {
    const big = Buffer.alloc(5000)
    const { chunks, sizeBytes } = encodeResponseFrame(1, 13, 77, fetched(big))
    const bytes = Buffer.concat(chunks)
    expect(bytes.length).toBe(sizeBytes)
    expect(bytes.readInt32BE()).toBe(sizeBytes - 4)
    expect(decodeResponseHeader(1, 13, bytes, 4)).toEqual({ correlationId: 77, bodyAt: 9 })
  })

  test('a request comes back', () => {
    const header = { apiKey: 12, apiVersion: 4, correlationId: 1, clientId: 'me' } as const
    const value = { groupId: 'g', generationId: 3, memberId: 'm', groupInstanceId: null }
    const bytes = Buffer.concat(encodeRequestFrame(header, value).chunks)
    const { bodyAt, ...decoded } = decodeRequestHeader(bytes, 4)
    expect(decoded).toEqual(header)
    expect(decodeRequest(12, 4, bytes, bodyAt)).toEqual(value)
  })
})

describe('values that cannot be carried', () => {
  test.each([
    '',
    'x',
    TOPIC_ID.slice(1),
    `${TOPIC_ID}0`,
    TOPIC_ID.replace('-', '0'),
    TOPIC_ID.replace('a', 'g'),
    TOPIC_ID.replace('0', '\u0130'),
    null,
    7,
  ])('uuid %j', (topicId) => {
    const value = { responses: [{ topicId, partitions: [] }] }
    expect(() => encodeResponse(1, 13, value as never)).toThrow(`FetchResponse v13: responses.topicId is no uuid: ${topicId}`)
  })

  test('a uuid in capitals is the same uuid', () => {
    const encode = (topicId: string): Buffer => Buffer.concat(encodeResponse(1, 13, { responses: [{ topicId, partitions: [] }] }).chunks)
    expect(encode(TOPIC_ID.toUpperCase())).toEqual(encode(TOPIC_ID))
  })

  test('a field that the version lacks must have its default', () => {
    const group = { groupId: 'g', generationId: 1, memberId: 'm' }
    expect(() => encodeMessage(apis[12].request, 2, { ...group, groupInstanceId: 'static' })).toThrow(
      'HeartbeatRequest v2: groupInstanceId cannot be carried by this version',
    )
    expect(encodeMessage(apis[12].request, 2, { ...group, groupInstanceId: null }).sizeBytes).toBe(10)
  })

  test('an ignorable one is dropped', () => {
    expect(Buffer.concat(encodeResponse(12, 0, { errorCode: 0, throttleTimeMs: 500 }).chunks)).toEqual(Buffer.alloc(2))
  })

  test.each([
    [{ errorCode: 40_000 }, 'errorCode is no integer from -32768 to 32767: 40000'],
    [{ errorCode: 0.5 }, 'errorCode is no integer'],
    [{ errorCode: null }, 'errorCode is no integer'],
    [{ errorCode: Number.NaN }, 'errorCode is no integer'],
    [{ errorCode: 0, throttleTimeMs: 2 ** 31 }, 'throttleTimeMs is no integer'],
    [null, 'the message is no object: null'],
  ])('HeartbeatResponse %j', (value, sentence) => {
    expect(() => encodeResponse(12, 1, value as never)).toThrow(sentence)
    expect(() => encodeResponse(12, 1, value as never)).toThrow(ProtocolError)
  })

  test.each([
    [{ topics: [{ name: 5 }] }, 'topics.name is no string: 5'],
    [{ topics: [{ name: 'x'.repeat(32768) }] }, 'topics.name has 32768 bytes, over 32767'],
    [{ topics: [{ name: null }] }, 'topics.name must not be null in this version'],
    [{ topics: 'all' }, 'topics is no array: all'],
    [{ topics: [null] }, 'topics is no object: null'],
    [{ topics: null, allowAutoTopicCreation: 1 }, 'allowAutoTopicCreation is no boolean: 1'],
  ])('MetadataRequest %#', (value, sentence) => {
    for (const version of [4, 9]) expect(() => encodeMessage(apis[3].request, version, value as never)).toThrow(sentence)
  })

  test('an offset that is no integer', () => {
    const partitions = (baseOffset: number): ResponseOf<0> => ({
      responses: [{ name: 't', partitionResponses: [{ index: 0, errorCode: 0, baseOffset }] }],
    })
    for (const offset of [0.5, Number.NaN, Infinity]) {
      expect(() => encodeResponse(0, 8, partitions(offset))).toThrow('responses.partitionResponses.baseOffset is no integer')
    }
    expect(encodeResponse(0, 8, partitions(2 ** 40)).sizeBytes).toBeGreaterThan(0)
  })
})

describe('what is advertised', () => {
  test('Produce from v0, though it is served from v3', () => {
    expect(advertisedVersions(0)).toEqual({ min: 0, max: 13 })
    expect(servedVersions(0)).toEqual({ min: 3, max: 13 })
  })

  test('InitProducerId without the version that is not final', () => {
    expect(advertisedVersions(22)).toEqual({ min: 0, max: 5 })
    expect(servedVersions(22)).toEqual({ min: 0, max: 6 })
  })

  test('headers', () => {
    expect(headerVersion(18, 4)).toEqual({ request: 2, response: 0 })
    expect(headerVersion(1, 11)).toEqual({ request: 1, response: 0 })
    expect(headerVersion(1, 12)).toEqual({ request: 2, response: 1 })
    expect(headerVersion(47, 0)).toEqual({ request: 1, response: 0 })
  })
})
