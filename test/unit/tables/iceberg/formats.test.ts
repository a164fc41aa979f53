import { describe, expect, it } from 'vitest'
import { parseJson, printJson } from '../../../../src/tables/iceberg/json.ts'
import { incarnationOf, layout, mintSnapshotId, publicationOf, publicationStem, stemOf } from '../../../../src/tables/iceberg/layout.ts'
import { decodeManifest, encodeManifest } from '../../../../src/tables/iceberg/manifest.ts'
import { decodeManifestList, describeManifest, encodeManifestList } from '../../../../src/tables/iceberg/manifestList.ts'
import { EntryStatus, type ManifestEntry } from '../../../../src/tables/iceberg/types.ts'
import { ROW_SCHEMA } from '../../../../src/tables/row/schema.ts'
import { file, uri } from './lib.ts'

const UUID = 'abcde012-3456-4789-8abc-def012345678'
const SYNC = Buffer.alloc(16, 7)
const metadata = { schemas: [ROW_SCHEMA], 'current-schema-id': 0, 'partition-specs': [{ 'spec-id': 0, fields: [] }], 'format-version': 2 }
const PLAIN = { id: 0, fields: [] }

function entry(status: number, name: string, snapshotId: number | bigint): ManifestEntry {
  const one = file(name)
  return {
    status,
    snapshotId,
    sequenceNumber: 5,
    fileSequenceNumber: 5,
    file: { path: uri(one.key), recordCount: one.rows, sizeBytes: one.sizeBytes, metrics: one.metrics, partition: [], firstRowId: null },
    specId: 0,
    ranges: one.ranges,
    level: 3,
  }
}

describe('JSON with 64-bit integers', () => {
  it('keeps every digit both ways', () => {
    const text = '{"a":9223372036854775807,"b":[-9007199254740993,1],"c":"9007199254740993","d":1.5e300}'
    expect(parseJson(text)).toEqual({ a: 9223372036854775807n, b: [-9007199254740993n, 1], c: '9007199254740993', d: 1.5e300 })
    expect(printJson(parseJson(text))).toBe('{"a":9223372036854775807,"b":[-9007199254740993,1],"c":"9007199254740993","d":1.5e+300}')
  })
})

describe('names', () => {
  it('go both ways', () => {
    const stem = publicationStem(12, UUID)
    expect(stem).toBe(`00012-${UUID}`)
    expect(stemOf(layout.metadata('tables/default/t', stem))).toBe(stem)
    expect(publicationOf(stem)).toBe(12)
    expect(publicationOf(publicationStem(1_234_567, UUID))).toBe(1_234_567)
    expect(incarnationOf(layout.data('tables/default/t', 42, UUID))).toBe(42)
    expect(incarnationOf(`tables/default/t/data/${UUID}.parquet`)).toBe(-1)
  })

  it('mints snapshot ids that rise with the publication and stay exact', () => {
    const ids = [1, 2, 3, 2 ** 33 - 1].map((publication) => Number(mintSnapshotId(publication, UUID)))
    expect(ids).toEqual(ids.toSorted((a, b) => a - b))
    expect(ids.every(Number.isSafeInteger)).toBe(true)
  })
})

describe('manifests', () => {
  it('come back as they were written, ids beyond 2^53 included', async () => {
    const big = 9_007_199_254_740_993n
    const entries = [entry(EntryStatus.added, 'a', 77), entry(EntryStatus.existing, 'b', big), entry(EntryStatus.deleted, 'c', 77)]
    const bytes = await encodeManifest(entries, metadata, 0, SYNC)
    const line = describeManifest('file:///m', bytes.length, entries, 9, 77, PLAIN)
    expect(line).toMatchObject({ addedFiles: 1, existingFiles: 1, deletedFiles: 1, addedRows: 10, minSequenceNumber: 5 })
    const back = await decodeManifest(bytes, line, metadata)
    expect(back.map((one) => one.snapshotId)).toEqual([77, big, 77])
    expect(back.map((one) => one.sequenceNumber)).toEqual([9, 5, 5])
    expect(back[1]).toEqual({ ...entries[1], file: { ...entries[1]!.file, metrics: { ...entries[1]!.file.metrics } } })
  })

  it('hold more entries than one Avro block', async () => {
    const entries = Array.from({ length: 1201 }, (_, n) => entry(EntryStatus.added, `f${n}`, 1))
    const bytes = await encodeManifest(entries, metadata, 0, SYNC)
    const back = await decodeManifest(bytes, describeManifest('file:///m', bytes.length, entries, 1, 1, PLAIN), metadata)
    expect(back.map((one) => one.file.path)).toEqual(entries.map((one) => one.file.path))
  })

  it('damage is an error', async () => {
    const bytes = await encodeManifest([entry(EntryStatus.added, 'a', 1)], metadata, 0, SYNC)
    const line = describeManifest('file:///m', bytes.length, [], 1, 1, PLAIN)
    for (const damaged of [bytes.subarray(0, bytes.length - 4), Buffer.from('Obj'), Buffer.concat([bytes, Buffer.from([2])])]) {
      await expect(decodeManifest(damaged, line, metadata)).rejects.toMatchObject({ code: 'CORRUPT' })
    }
  })

  it('lists keep their lines', async () => {
    const lines = [describeManifest('file:///a', 10, [entry(EntryStatus.added, 'a', 1)], 3, 9_007_199_254_740_995n, PLAIN)]
    const bytes = await encodeManifestList(lines, { id: 1, parentId: null, sequenceNumber: 3, formatVersion: 2, firstRowId: null }, SYNC)
    expect(await decodeManifestList(bytes)).toEqual(lines)
    const empty = await encodeManifestList([], { id: 1, parentId: null, sequenceNumber: 1, formatVersion: 2, firstRowId: null }, SYNC)
    expect(await decodeManifestList(empty)).toEqual([])
  })
})
