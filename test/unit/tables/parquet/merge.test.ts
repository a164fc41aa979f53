import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { expect, test } from 'vitest'
import { indexFile } from '../../../../src/tables/parquet/fileIndex.ts'
import { mergeRowFiles, type MergeInput } from '../../../../src/tables/parquet/merge.ts'
import { openGroup } from '../../../../src/tables/parquet/fileIndex.ts'
import { batchesOf } from '../../../../src/tables/readback/batches.ts'
import { encodeFile } from '../files.ts'
import { generator, mixedRows, plain, rowsOf, type TestRow } from '../records.ts'

function input(bytes: Buffer): MergeInput {
  return { sizeBytes: bytes.length, read: async (start, end) => Uint8Array.from(bytes.subarray(start, end)) }
}

/** Rows of a file by partition, and the partitions that each row group has. */
async function readFile(bytes: Buffer): Promise<{ rows: Map<number, TestRow[]>; groups: number[][] }> {
  const index = indexFile(bytes)
  const rows = new Map<number, TestRow[]>()
  const groups: number[][] = []
  for (const group of index.groups) {
    const list = batchesOf(await openGroup(group, index.footer, bytes.subarray(group.start, group.end)))
    groups.push([...new Set(list.partitions)])
    list.batches.forEach((batch, i) => {
      const partition = list.partitions[i]
      rows.set(partition, [...(rows.get(partition) ?? []), ...rowsOf([batch])])
    })
  }
  return { rows, groups }
}

/** Rows of three partitions, dealt out to `count` files: in ranges, or each row to any file. */
function dealt(count: number, scattered: boolean): { all: Map<number, TestRow[]>; files: Buffer[] } {
  const random = generator(count)
  const all = new Map([0, 2, 3].map((partition) => [partition, mixedRows(1500, partition + count)]))
  const files = Array.from({ length: count }, (_, f) => {
    const partitions = [...all].map(([partition, rows]) => ({
      partition,
      rows: scattered ? rows.filter((_row, i) => (i * 7919) % count === f) : rows.slice((f * 1500) / count, ((f + 1) * 1500) / count),
    }))
    return encodeFile(partitions, { rowGroupRows: 200 + random.int(400), pageRows: 64 }).bytes
  })
  return { all, files }
}

for (const scattered of [false, true]) {
  test(`files ${scattered ? 'whose rows lie between one another' : 'of ranges'} merge into one, a partition a row group`, async () => {
    const { all, files } = dealt(5, scattered)
    const parts: Uint8Array[] = []
    const stats = await mergeRowFiles(files.map(input), (bytes) => void parts.push(bytes), { rowGroupRows: 700 })
    const merged = await readFile(Buffer.concat(parts))
    for (const [partition, rows] of all) expect(plain(merged.rows.get(partition)!)).toEqual(plain(rows))
    expect(merged.groups.every((partitions) => partitions.length === 1)).toBe(true)
    expect(stats.rows).toBe(4500)
    expect(stats.sizeBytes).toBe(Buffer.concat(parts).length)
    expect(stats.ranges.map(({ partition, rows }) => [partition, rows])).toEqual([
      [0, 1500],
      [2, 1500],
      [3, 1500],
    ])
    // The same file as if the rows had been encoded at once: merging leaves nothing of its inputs.
    const direct = encodeFile(
      [...all].map(([partition, rows]) => ({ partition, rows })),
      { rowGroupRows: 700, onePartitionPerRowGroup: true },
    )
    expect(Buffer.concat(parts).equals(direct.bytes)).toBe(true)
    expect(stats).toEqual(direct.stats)
  })
}

test('the same row in two files is refused, a damaged row is found', async () => {
  const rows = mixedRows(100, 4)
  const { bytes } = encodeFile([{ partition: 1, rows }])
  await expect(mergeRowFiles([input(bytes), input(bytes)], () => {})).rejects.toMatchObject({ code: 'REFUSED' })
  const random = { ...rows[0], value: generator(9).bytes(500) }
  const plainFile = encodeFile([{ partition: 1, rows: [random] }]).bytes
  const where = plainFile.indexOf(random.value)
  expect(where).toBeGreaterThan(0)
  plainFile[where + 250] ^= 1
  await expect(mergeRowFiles([input(plainFile)], () => {})).rejects.toMatchObject({ code: 'CORRUPT' })
})

test('no input, and inputs without rows, give a file without rows', async () => {
  const empty = encodeFile([]).bytes
  for (const inputs of [[], [empty, empty]]) {
    const parts: Uint8Array[] = []
    const stats = await mergeRowFiles(inputs.map(input), (bytes) => void parts.push(bytes))
    expect(stats).toMatchObject({ rows: 0, rowGroups: 0, ranges: [], splitOffsets: [] })
    expect(indexFile(Buffer.concat(parts)).groups).toEqual([])
  }
})

test('large row groups are copied, small ones before them are evened out, and the file is the same to readers', async () => {
  const rows = mixedRows(6000, 21)
  const files = [0, 1, 2].map(
    (f) => encodeFile([{ partition: 4, rows: rows.slice(f * 2000, (f + 1) * 2000) }], { rowGroupRows: 450, pageRows: 64 }).bytes,
  )
  const results = await Promise.all(
    [1, Infinity].map(async (copyFromBytes) => {
      const parts: Uint8Array[] = []
      const stats = await mergeRowFiles(files.map(input), (bytes) => void parts.push(bytes), { copyFromBytes })
      const bytes = Buffer.concat(parts)
      return { bytes, stats, file: await readFile(bytes) }
    }),
  )
  const [copied, encoded] = results
  expect(copied.stats.rowGroups).toBe(12)
  expect(encoded.stats.rowGroups).toBe(1)
  expect(plain(copied.file.rows.get(4)!)).toEqual(plain(rows))
  for (const key of ['rows', 'valueCounts', 'nullValueCounts', 'lowerBounds', 'upperBounds', 'ranges'] as const) {
    expect({ key, value: copied.stats[key] }).toEqual({ key, value: encoded.stats[key] })
  }
  expect(copied.stats.sizeBytes).toBe(copied.bytes.length)
  const objects = await parquetReadObjects({
    file: toArrayBuffer(copied.bytes),
    compressors,
    filter: { kafka_offset: { $gte: BigInt(rows[3000].offset) } },
  })
  expect(objects.length).toBe(3000)
  // A copied row group refused in the wrong order, and the small-tail rule with real sizes.
  await expect(mergeRowFiles([input(files[0]), input(files[0])], () => {}, { copyFromBytes: 1 })).rejects.toMatchObject({ code: 'REFUSED' })
})

function toArrayBuffer(bytes: Buffer): ArrayBuffer {
  return Uint8Array.from(bytes).buffer
}
