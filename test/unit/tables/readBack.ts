import { indexFile, openGroup } from '../../../src/tables/parquet/fileIndex.ts'
import { batchesOf } from '../../../src/tables/readback/batches.ts'
import { rowsOf, type TestRow } from './records.ts'

/** The record batches of a whole file, by partition. */
export async function batchesBack(file: Buffer): Promise<Map<number, Uint8Array[]>> {
  const index = indexFile(file)
  const batches = new Map<number, Uint8Array[]>()
  for (const group of index.groups) {
    const list = batchesOf(await openGroup(group, index.footer, file.subarray(group.start, group.end)))
    list.batches.forEach((batch, i) => {
      const partition = list.partitions[i]
      batches.set(partition, [...(batches.get(partition) ?? []), batch])
    })
  }
  return batches
}

/** The records of a whole file, by partition. */
export async function readBack(file: Buffer): Promise<Map<number, TestRow[]>> {
  return new Map([...(await batchesBack(file))].map(([partition, batches]) => [partition, rowsOf(batches)]))
}
