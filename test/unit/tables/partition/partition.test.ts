import { describe, expect, it } from 'vitest'
import { parsePartitionBy, partitionProblem } from '../../../../src/base/config/partitionBy.ts'
import type { TableMetadata } from '../../../../src/tables/iceberg/types.ts'
import { summarizePartitions, tupleKey } from '../../../../src/tables/partition/avro.ts'
import { murmur3, murmur3Long } from '../../../../src/tables/partition/murmur3.ts'
import { bindTerms, withSpec } from '../../../../src/tables/partition/spec.ts'
import { minimalBytes, transformer } from '../../../../src/tables/partition/values.ts'
import { ROW_SCHEMA } from '../../../../src/tables/row/schema.ts'

const text = (value: string): Uint8Array => Buffer.from(value)
const micros = (iso: string): bigint => BigInt(Date.parse(iso)) * 1000n

describe('hashes of the specification (Appendix B)', () => {
  it('come out', () => {
    expect(murmur3Long(34n)).toBe(2017239379)
    expect(murmur3(minimalBytes(1420n))).toBe(-500754589)
    expect(murmur3Long(BigInt(Date.UTC(2017, 10, 16) / 86_400_000))).toBe(-653330422)
    expect(murmur3Long(81_068_000_000n)).toBe(-662762989)
    expect(murmur3Long(micros('2017-11-16T22:31:08Z'))).toBe(-2047944441)
    expect(murmur3(text('iceberg'))).toBe(1210000089)
    expect(murmur3(Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex'))).toBe(1488055340)
    expect(murmur3(Buffer.from('00010203', 'hex'))).toBe(-188683207)
  })
})

describe('transforms', () => {
  const of = (term: string, type: string) => transformer(parsePartitionBy(term)[0]!.transform, type)
  it('cut towards the past, before 1970 too', () => {
    for (const [term, at, value] of [
      ['year', '1969-12-31T23:59:59.999Z', -1],
      ['month', '1969-12-31T23:59:59.999Z', -1],
      ['day', '1969-12-31T23:59:59.999Z', -1],
      ['hour', '1969-12-31T23:59:59.999Z', -1],
      ['year', '2017-11-16T22:31:08Z', 47],
      ['month', '2017-11-16T22:31:08Z', 574],
      ['day', '2017-11-16T22:31:08Z', 17486],
      ['hour', '2017-11-16T22:31:08Z', 419686],
      ['month', '2000-02-29T00:00:00Z', 361],
      ['year', '2000-01-01T00:00:00Z', 30],
    ] as const)
      expect([term, at, of(`${term}(t)`, 'timestamptz')(micros(at))]).toEqual([term, at, value])
    expect(of('month(d)', 'date')(-1)).toBe(-1)
  })

  it('truncate as the specification says', () => {
    expect(of('truncate(10, a)', 'int')(-1)).toBe(-10)
    expect(of('truncate(10, a)', 'int')(1)).toBe(0)
    expect(of('truncate(10, a)', 'long')(-1n)).toBe(-10n)
    expect(of('truncate(50, a)', 'decimal(9, 2)')(1065n)).toBe(1050n)
    expect(of('truncate(3, a)', 'string')(text('iceberg'))).toBe('ice')
    expect(of('truncate(2, a)', 'string')(text('é😀x'))).toBe('é😀')
    expect(of('truncate(3, a)', 'binary')(text('abcdef'))).toEqual(text('abc'))
  })

  it('bucket and void', () => {
    expect(of('bucket(16, a)', 'string')(text('iceberg'))).toBe((1210000089 & 0x7fffffff) % 16)
    expect(of('bucket(16, a)', 'int')(34)).toBe((2017239379 & 0x7fffffff) % 16)
    expect(of('void(a)', 'int')(34)).toBeNull()
    expect(of('bucket(16, a)', 'int')(null)).toBeNull()
    expect(Object.is(of('a', 'double')(-0), 0)).toBe(true)
  })
})

describe('table.partition.by', () => {
  it('is read in the spellings that engines use', () => {
    const terms = parsePartitionBy('day(kafka_timestamp), bucket(16, a.b),bucket(id, 4), Truncate(3,name), kafka_partition, hours(t)')
    expect(terms.map(({ column, transform }) => [column, transform.kind, transform.width])).toEqual([
      ['kafka_timestamp', 'day', 0],
      ['a.b', 'bucket', 16],
      ['id', 'bucket', 4],
      ['name', 'truncate', 3],
      ['kafka_partition', 'identity', 0],
      ['t', 'hour', 0],
    ])
    expect(parsePartitionBy('none')).toEqual([])
  })

  it('says what is wrong', () => {
    expect(partitionProblem('day(kafka_timestamp')).toMatch(/no partition transform/)
    expect(partitionProblem('bucket(0, id)')).toMatch(/width/)
    expect(partitionProblem('id, id')).toMatch(/twice/)
    expect(partitionProblem('bucket(4, id), day(t)')).toBeNull()
  })
})

describe('specs', () => {
  const metadata = {
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    schemas: [ROW_SCHEMA],
  } as unknown as TableMetadata
  const bind = (by: string) => bindTerms(ROW_SCHEMA, parsePartitionBy(by)).fields
  it('keep the ids of their fields, and are made once', () => {
    const first = withSpec(metadata, bind('day(kafka_timestamp), kafka_partition'))
    expect(first.metadata['partition-specs'][1]).toEqual({
      'spec-id': 1,
      fields: [
        { name: 'kafka_timestamp_day', transform: 'day', 'source-id': 3, 'field-id': 1000 },
        { name: 'kafka_partition', transform: 'identity', 'source-id': 1, 'field-id': 1001 },
      ],
    })
    expect(withSpec(first.metadata, bind('day(kafka_timestamp), kafka_partition')).metadata).toBe(first.metadata)
    expect(withSpec(first.metadata, []).specId).toBe(0)
    const second = withSpec(first.metadata, bind('kafka_partition, bucket(8, kafka_key)'))
    expect(second.metadata['partition-specs'][2]!.fields.map((field) => field['field-id'])).toEqual([1001, 1002])
    expect(second.metadata['last-partition-id']).toBe(1002)
  })

  it('leave out what a table cannot be partitioned by', () => {
    const { fields, missing } = bindTerms(ROW_SCHEMA, parsePartitionBy('day(kafka_key), nothing, hour(kafka_timestamp), kafka_headers'))
    expect(fields.map((field) => field.path)).toEqual([['kafka_timestamp']])
    expect(missing).toHaveLength(3)
  })

  it('sum up partitions in the order of their types (hazard L7)', () => {
    const fields = bind('kafka_key, kafka_partition')
    const [key, partition] = summarizePartitions(fields, [
      ['b', 3],
      ['\u{10000}', -1],
      ['\uffff', 2],
      [null, 2],
    ])
    expect(key).toMatchObject({ containsNull: true, containsNan: null, lower: Buffer.from('b'), upper: Buffer.from('\u{10000}') })
    expect(partition!.lower).toEqual(Buffer.from([255, 255, 255, 255]))
    expect(tupleKey([1n, 'a', null])).not.toBe(tupleKey([1, 'a', null]))
  })
})
