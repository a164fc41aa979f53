import type { ObjectStore } from '../../storage/store.ts'
import { RowFileEncoder } from '../parquet/encoder.ts'
import { mergeRowFiles, type MergeInput } from '../parquet/merge.ts'
import type { RowFileStats } from '../parquet/rowWriter.ts'
import type { EncodeTask, FileResult, MergeTask } from './tasks.ts'
import { AbortedBatches } from './aborted.ts'
import { Upload } from './upload.ts'

/** Writes the rows of a task's batches to one file. A task without rows makes none. */
export async function encode(task: EncodeTask, store: ObjectStore): Promise<FileResult> {
  const encoder = new RowFileEncoder()
  let list: EncodeTask['parts'][number]['aborted'] = []
  let aborted = new AbortedBatches(list)
  for (const part of task.parts) {
    const bytes = new Uint8Array(task.bytes, part.at, part.sizeBytes)
    // parts of one partition share their list
    if (part.aborted !== list) {
      list = part.aborted
      aborted = new AbortedBatches(list)
    }
    const { fromOffset, toOffset } = part
    const isLeftOut = list.length === 0 ? undefined : (producerId: number, offset: number): boolean => aborted.has(producerId, offset)
    encoder.addBatches(part.partition, part.baseOffset, bytes, { fromOffset, toOffset, isLeftOut })
  }
  const { chunks, ...stats } = encoder.finish()
  if (stats.rows > 0) await store.put(task.key, chunks, { reason: 'convert' })
  return result(task.key, stats)
}

/** Merges files into one, which is uploaded in parts as it comes. */
export async function merge(task: MergeTask, store: ObjectStore): Promise<FileResult> {
  const upload = new Upload(store, task.key, 'maintain')
  const inputs = task.inputs.map(({ key, sizeBytes }): MergeInput => ({
    sizeBytes,
    read: async (start, end) => (await store.getRange(key, { start, end }, { reason: 'maintain' })).body,
  }))
  try {
    const stats = await mergeRowFiles(inputs, (bytes) => upload.write(bytes))
    await upload.finish()
    return result(task.key, stats)
  } catch (error) {
    await upload.abort()
    throw error
  }
}

/** Statistics of the Parquet writer as a manifest and CommitTable want them. */
function result(key: string, stats: RowFileStats): FileResult {
  return {
    key,
    sizeBytes: stats.sizeBytes,
    rows: stats.rows,
    ranges: stats.ranges.map(
      (range) => [range.partition, range.firstOffset, range.lastOffset, range.rows, range.maxTimestampMs, 0] as const,
    ),
    metrics: {
      columnSizes: [...stats.columnSizes],
      valueCounts: [...stats.valueCounts],
      nullValueCounts: [...stats.nullValueCounts],
      lowerBounds: [...stats.lowerBounds],
      upperBounds: [...stats.upperBounds],
      splitOffsets: [...stats.splitOffsets],
    },
  }
}
