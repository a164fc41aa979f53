import type { TableFile } from '../../../src/metadata/view.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import { RowFileEncoder, type RowFileEncoderOptions } from '../../../src/tables/parquet/encoder.ts'
import type { RowFileStats } from '../../../src/tables/parquet/rowWriter.ts'
import { batchesFrom, type TestRow } from './records.ts'

export interface TestPartition {
  readonly partition: number
  readonly rows: readonly TestRow[]
}

/** Encodes partitions, in the order given, into one file. */
export function encodeFile(
  partitions: readonly TestPartition[],
  options: RowFileEncoderOptions & { readonly codec?: number; readonly rowsPerBatch?: number } = {},
): { readonly bytes: Buffer; readonly stats: RowFileStats } {
  const encoder = new RowFileEncoder(options)
  for (const { partition, rows } of partitions) {
    if (rows.length > 0) encoder.addBatches(partition, rows[0].offset, batchesFrom(rows, options))
  }
  const { chunks, ...stats } = encoder.finish()
  return { bytes: Buffer.concat(chunks), stats }
}

/** Puts a file into a store; what the state would know of it. */
export async function putFile(store: MemoryStore, id: number, bytes: Buffer, stats: RowFileStats): Promise<TableFile> {
  const key = `tables/default/t-00000000/data/file-${id}.parquet`
  await store.put(key, bytes)
  return {
    id,
    topic: 1,
    key,
    sizeBytes: bytes.length,
    rows: stats.rows,
    level: 0,
    ranges: stats.ranges.map((range) => ({ ...range, originalBytes: 0 })),
  }
}

/** A store that counts its ranged gets. */
export class CountingStore extends MemoryStore {
  gets = 0
  gotBytes = 0
  override async getRange(...args: Parameters<MemoryStore['getRange']>): ReturnType<MemoryStore['getRange']> {
    this.gets++
    const result = await super.getRange(...args)
    this.gotBytes += result.body.length
    return result
  }
}
