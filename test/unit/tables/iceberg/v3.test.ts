import { describe, expect, it } from 'vitest'
import { parsePartitionBy } from '../../../../src/base/config/partitionBy.ts'
import { decodeManifestList } from '../../../../src/tables/iceberg/manifestList.ts'
import { currentSnapshot } from '../../../../src/tables/iceberg/table.ts'
import { bindTerms } from '../../../../src/tables/partition/spec.ts'
import { ROW_SCHEMA } from '../../../../src/tables/row/schema.ts'
import { file, keyOf, Sketch } from './lib.ts'

const identity = (formatVersion: number, by = 'none') => ({
  topic: { id: '0000-topic', name: 't', partitions: 2, configs: {}, createdMs: 1_700_000_000_000 },
  table: { uuid: '11111111-2222-4333-8444-555555555555', namespace: 'default', name: 't', location: 'tables/default/t-12345678' },
  progress: [],
  targetFileBytes: 1 << 29,
  formatVersion,
  partitionBy: parsePartitionBy(by),
})
const rowIds = async (table: Sketch): Promise<[string, number | null][]> =>
  (await table.entries()).filter((entry) => entry.status !== 2).map((entry) => [entry.file.path.split('/').at(-1)!, entry.file.firstRowId])

describe('Iceberg v3', () => {
  it('gives every row an id, once (row lineage)', async () => {
    const table = new Sketch()
    await table.publish({ operation: 'append', added: [file('a', 10), file('b', 5, 1)] }, { identity: identity(3) })
    expect(table.base!.metadata).toMatchObject({ 'format-version': 3, 'next-row-id': 15 })
    expect(currentSnapshot(table.base!.metadata)).toMatchObject({ 'first-row-id': 0, 'added-rows': 15 })
    expect(await rowIds(table)).toEqual([
      ['a.parquet', 0],
      ['b.parquet', 10],
    ])
    await table.publish({ operation: 'append', added: [file('c', 7, 0, 10)] }, { identity: identity(3) })
    expect(await rowIds(table)).toEqual([
      ['c.parquet', 15],
      ['a.parquet', 0],
      ['b.parquet', 10],
    ])
    // a removal rewrites the manifest of a and b: b keeps its ids
    await table.publish({ operation: 'delete', removedKeys: [file('a').key] }, { identity: identity(3) })
    expect(Object.fromEntries(await rowIds(table))).toEqual({ 'b.parquet': 10, 'c.parquet': 15 })
    expect(table.base!.metadata['next-row-id']).toBe(22 + 5)
    const lines = await decodeManifestList(table.objects.get(keyOf(currentSnapshot(table.base!.metadata)!['manifest-list'])!)!)
    expect(lines.every((line) => line.firstRowId !== null)).toBe(true)
  })

  it('takes in a table of v2, whose rows get ids then', async () => {
    const table = new Sketch()
    await table.publish({ operation: 'append', added: [file('a', 10)] })
    expect(table.base!.metadata['next-row-id']).toBeUndefined()
    await table.publish({ operation: 'append', added: [file('b', 5, 1)] }, { identity: identity(3) })
    expect(await rowIds(table)).toEqual([
      ['b.parquet', 0],
      ['a.parquet', 5],
    ])
    expect(table.base!.metadata).toMatchObject({ 'format-version': 3, 'next-row-id': 15 })
    // and is not taken back
    await table.publish({ operation: 'none' }, { identity: identity(2) })
    expect(table.base!.metadata['format-version']).toBe(3)
  })
})

describe('partitioned tables', () => {
  it('keep files of every spec, in manifests of their own, with summaries', async () => {
    const table = new Sketch()
    const day = bindTerms(ROW_SCHEMA, parsePartitionBy('day(kafka_timestamp), kafka_key')).fields
    await table.publish({ operation: 'append', added: [file('plain', 10)] })
    const added = [
      { ...file('x', 3, 0, 10), partition: { fields: day, values: [19_000, 'a'] } },
      { ...file('y', 4, 1), partition: { fields: day, values: [19_001, null] } },
    ]
    await table.publish({ operation: 'append', added }, { identity: identity(2, 'day(kafka_timestamp), kafka_key') })
    const { metadata } = table.base!
    expect(metadata['default-spec-id']).toBe(1)
    expect(currentSnapshot(metadata)!.summary['changed-partition-count']).toBe('2')
    const entries = await table.entries()
    expect(entries.map((entry) => [entry.specId, entry.file.partition])).toEqual([
      [1, [19_000, 'a']],
      [1, [19_001, null]],
      [0, []],
    ])
    const lines = await decodeManifestList(table.objects.get(keyOf(currentSnapshot(metadata)!['manifest-list'])!)!)
    expect(lines.map((line) => line.partitions.length)).toEqual([2, 0])
    expect(lines[0]!.partitions[0]).toMatchObject({ containsNull: false, lower: Buffer.from([0x38, 0x4a, 0, 0]) })
    expect(lines[0]!.partitions[1]).toMatchObject({ containsNull: true, upper: Buffer.from('a') })
    // changed once more: what is there stays as it is
    await table.publish({ operation: 'none' }, { identity: identity(2, 'bucket(4, kafka_key)') })
    expect(table.base!.metadata['default-spec-id']).toBe(2)
    expect((await table.entries()).map((entry) => entry.specId)).toEqual([1, 1, 0])
  })
})
