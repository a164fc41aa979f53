import { describe, expect, test } from 'vitest'
import {
  apis,
  decodeMessage,
  decodeRequest,
  decodeRequestHeader,
  decodeResponseHeader,
  encodeMessage,
  encodeRequest,
  ProtocolError,
} from '../../../protocol/index.ts'
import { message } from '../../../protocol/schema.ts'
import type { Message, MessageInput } from '../../../protocol/index.ts'

function bytesOf<M extends Message>(definition: M, version: number, value: MessageInput<M>): Buffer {
  return Buffer.concat(encodeMessage(definition, version, value).chunks)
}

/** A message of every shape, for what no API of Kafka happens to have. v0 is not flexible, v1 is. */
const sample = message({
  name: 'Sample',
  validVersions: '0-1',
  flexibleVersions: '1+',
  fields: {
    names: { type: 'array', of: 'string', versions: '0+' },
    maybe: { type: 'struct', versions: '1+', nullable: '1+', default: null, fields: { x: { type: 'int8', versions: '0+' } } },
    ratio: { type: 'float64', versions: '0+' },
    port: { type: 'uint16', versions: '0+' },
    total: { type: 'uint32', versions: '0+' },
    data: { type: 'bytes', versions: '0+', nullable: '0+' },
    note: { type: 'string', versions: '1+', nullable: '1+', default: null, tag: 3 },
    list: { type: 'array', versions: '1+', tag: 5, fields: { y: { type: 'int64', versions: '0+' } } },
  },
})

const full = { names: ['a', ''], ratio: -1.5, port: 65535, total: 2 ** 32 - 1, data: null }

describe('shapes', () => {
  test('unsigned numbers, doubles, nullable structs, tagged arrays', () => {
    const value = { ...full, maybe: { x: -128 }, note: 'n', list: [{ y: 1 }, { y: -1 }] }
    expect(decodeMessage(sample, 1, bytesOf(sample, 1, value)).value).toEqual(value)
    expect(decodeMessage(sample, 1, bytesOf(sample, 1, full)).value).toEqual({ ...full, maybe: null, note: null, list: [] })
  })

  test('fields of other versions come with their defaults', () => {
    expect(decodeMessage(sample, 0, bytesOf(sample, 0, full)).value).toEqual({ ...full, maybe: null, note: null, list: [] })
  })

  test('int64 keeps what a double can hold and saturates beyond it', () => {
    const offset = (value: number): number => {
      const request = { topics: [], maxWaitMs: 0, minBytes: 0 }
      const topics = [{ topic: 't', partitions: [{ partition: 0, fetchOffset: value, partitionMaxBytes: 1 }] }]
      return decodeRequest(1, 4, bytesOf(apis[1].request, 4, { ...request, topics })).topics[0].partitions[0].fetchOffset
    }
    for (const value of [0, 1, -1, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 62, -(2 ** 63)])
      expect(offset(value)).toBe(value)
    expect(offset(2 ** 63)).toBe(2 ** 63)
    expect(offset(1e300)).toBe(2 ** 63)
    expect(offset(-1e300)).toBe(-(2 ** 63))
  })

  test('bytes and records are views of the frame', () => {
    const topicData = [{ name: 't', partitionData: [{ index: 0, records: Buffer.from('batch') }] }]
    const frame = bytesOf(apis[0].request, 7, { acks: 1, timeoutMs: 1, topicData })
    const records = decodeRequest(0, 7, frame).topicData[0].partitionData[0].records
    expect(records?.buffer).toBe(frame.buffer)
    expect(Buffer.from(records as Uint8Array).toString()).toBe('batch')
  })
})

describe('tagged fields', () => {
  const unknown = { tag: 4, data: Buffer.from('four') }

  test('unknown ones are kept and written back in order of their tags', () => {
    const value = {
      ...full,
      note: 'n',
      list: [{ y: 7 }],
      unknownTags: [{ tag: 0, data: Buffer.alloc(0) }, unknown, { tag: 900, data: Buffer.alloc(200) }],
    }
    const bytes = bytesOf(sample, 1, value)
    const decoded = decodeMessage(sample, 1, bytes).value
    expect(decoded.unknownTags?.map(({ tag, data }) => [tag, data.length])).toEqual([
      [0, 0],
      [4, 4],
      [900, 200],
    ])
    expect(bytesOf(sample, 1, decoded)).toEqual(bytes)
    // 5 fields: 0 (empty), 3 'n', 4 'four', 5 an array, 900
    expect(bytes.toString('hex')).toContain('0500000302026e0404666f757205')
  })

  test('a section holds 10,000 fields at most', () => {
    const body = bytesOf(sample, 1, full)
    const tags = (count: number): Buffer => {
      const fields = Array.from({ length: count }, (_, i) => ({ tag: 6 + i, data: Buffer.alloc(0) }))
      return bytesOf(sample, 1, { ...full, unknownTags: fields })
    }
    expect(decodeMessage(sample, 1, tags(10_000)).value.unknownTags).toHaveLength(10_000)
    expect(() => decodeMessage(sample, 1, tags(10_001))).toThrow('10001 tagged fields')
    const claimed = Buffer.concat([body.subarray(0, -1), Buffer.from('ffffffff0f', 'hex')])
    expect(() => decodeMessage(sample, 1, claimed)).toThrow('4294967295 tagged fields')
  })

  test('a known field must fill its size', () => {
    const bytes = bytesOf(sample, 1, { ...full, note: 'n' })
    const grown = Buffer.concat([bytes.subarray(0, -3), Buffer.from([3, 2, 0x6e, 0x00])])
    expect(() => decodeMessage(sample, 1, grown)).toThrow('Sample v1: the value of tagged field note does not end at its size')
  })

  test('a size longer than the message is refused', () => {
    const bytes = bytesOf(sample, 1, { ...full, note: 'n' })
    bytes[bytes.length - 3] = 100
    expect(() => decodeMessage(sample, 1, bytes)).toThrow(ProtocolError)
  })
})

describe('bad bytes', () => {
  const metadata = (hex: string): unknown => decodeRequest(3, 1, Buffer.from(hex, 'hex'))

  test.each([
    ['000f4241', 'topics has 1000001 elements, over 1000000'],
    ['7fffffff', 'elements, over 1000000'],
    ['000f4240', 'topics needs 2000000 bytes, 0 remain'],
    ['00000002000161', 'topics needs 4 bytes, 3 remain'],
    ['00000001000561', 'topics.name needs 5 bytes, 1 remain'],
    ['00000001ffff', 'topics.name must not be null in this version'],
    ['0000', 'topics needs 4 bytes, 2 remain'],
  ])('MetadataRequest v1 %s', (hex, sentence) => {
    expect(() => metadata(hex)).toThrow(sentence)
    expect(() => metadata(hex)).toThrow(ProtocolError)
  })

  test('null where it is allowed, also in lengths below -1, as Kafka reads them', () => {
    expect(metadata('ffffffff')).toMatchObject({ topics: null })
    expect(metadata('fffffffe')).toMatchObject({ topics: null })
    expect(() => decodeRequest(3, 0, Buffer.from('ffffffff', 'hex'))).toThrow('topics must not be null')
  })

  test.each(['ffffffff1f', 'ffffffffff', '8080808080', 'ffffffff'])('varint %s', (hex) => {
    expect(() => decodeRequest(3, 9, Buffer.from(hex, 'hex'))).toThrow(ProtocolError)
  })

  test('arrays within arrays share one budget of elements', () => {
    // DescribeConfigs v1: resources of type 2 with an empty name, each with many empty configuration keys.
    const keys = Buffer.alloc(4 + 2 * 900_000)
    keys.writeInt32BE(900_000)
    const resource = Buffer.concat([Buffer.from('020000', 'hex'), keys])
    const frame = (count: number): Buffer => {
      const head = Buffer.alloc(4)
      head.writeInt32BE(count)
      return Buffer.concat([head, ...Array.from({ length: count }, () => resource), Buffer.from([0])])
    }
    expect(decodeRequest(32, 1, frame(2)).resources).toHaveLength(2)
    expect(() => decodeRequest(32, 1, frame(3))).toThrow('over 2000000 elements')
  })

  test('bytes after the message are left alone, as Kafka does', () => {
    const bytes = Buffer.concat([bytesOf(apis[12].request, 0, { groupId: 'g', generationId: 1, memberId: 'm' }), Buffer.from('more')])
    expect(decodeMessage(apis[12].request, 0, bytes)).toMatchObject({ value: { memberId: 'm' }, end: bytes.length - 4 })
  })

  test('versions and keys without a definition', () => {
    expect(() => decodeRequest(0, 2, Buffer.alloc(9))).toThrow('ProduceRequest has no version 2, only 3-13')
    expect(() => decodeRequest(0, 1.5, Buffer.alloc(9))).toThrow(ProtocolError)
    expect(() => decodeRequest(99 as never, 0, Buffer.alloc(9))).toThrow('API key 99 has no definition')
    expect(() => decodeRequest('constructor' as never, 0, Buffer.alloc(9))).toThrow(ProtocolError)
  })
})

describe('headers', () => {
  test('the client id keeps its int16 length in v2', () => {
    // key 18, v4, correlation id 7, 'ab', no tagged fields, then the body
    const frame = Buffer.from('0012000400000007000261620012', 'hex')
    expect(decodeRequestHeader(frame)).toEqual({ apiKey: 18, apiVersion: 4, correlationId: 7, clientId: 'ab', bodyAt: 13 })
  })

  test('a version too new is still read, so that ApiVersions can answer it', () => {
    expect(decodeRequestHeader(Buffer.from('0012006300000007ffff00', 'hex'))).toMatchObject({ apiVersion: 99, clientId: null })
  })

  test('an unknown key, a short header', () => {
    expect(() => decodeRequestHeader(Buffer.from('00630000000000070000', 'hex'))).toThrow('API key 99')
    expect(() => decodeRequestHeader(Buffer.alloc(7))).toThrow('needs 8 bytes, 7 remain')
    expect(() => decodeRequestHeader(Buffer.from('001200000000000700056162', 'hex'))).toThrow('clientId needs 5 bytes, 2 remain')
  })

  test('the answer to ApiVersions has header v0 in every version', () => {
    expect(decodeResponseHeader(18, 4, Buffer.from('0000000900', 'hex'))).toEqual({ correlationId: 9, bodyAt: 4 })
    expect(decodeResponseHeader(3, 9, Buffer.from('0000000900', 'hex'))).toEqual({ correlationId: 9, bodyAt: 5 })
    expect(decodeResponseHeader(3, 8, Buffer.from('0000000900', 'hex'))).toEqual({ correlationId: 9, bodyAt: 4 })
  })
})

test('a request of one call is whole before the next call', () => {
  const first = encodeRequest(12, 4, { groupId: 'a', generationId: 1, memberId: 'x' })
  const copy = Buffer.concat(first.chunks)
  for (let i = 0; i < 2000; i++) encodeRequest(12, 4, { groupId: 'b'.repeat(100), generationId: 2, memberId: 'y' })
  expect(Buffer.concat(first.chunks)).toEqual(copy)
})
