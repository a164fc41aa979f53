import { LRUCache } from 'lru-cache'
import { EMPTY_TYPING, parseTyping, type Typing } from '../../schemas/typing/typing.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { RowFileEncoder } from '../parquet/encoder.ts'
import { mergeRowFiles, type MergeInput } from '../parquet/merge.ts'
import type { RowFileStats } from '../parquet/rowWriter.ts'
import type { EncodeTask, FileResult, MergeTask } from './tasks.ts'
import { AbortedBatches } from './aborted.ts'
import { Upload } from './upload.ts'

/** Writes the rows of a task's batches to one file. A task without rows makes none. */
export async function encode(task: EncodeTask, store: ObjectStore): Promise<FileResult> {
  const { typed = null } = task
  const encoder = new RowFileEncoder(
    typed === null
      ? {}
      : {
          typed: {
            typing: typingOf(typed),
            keys: typed.keys,
            values: typed.values,
            setting: typed.setting,
            givenUp: new Set(typed.givenUp),
          },
        },
  )
  let list: EncodeTask['parts'][number]['aborted'] = []
  let aborted = new AbortedBatches(list)
  for (const part of task.parts) {
    const bytes = new Uint8Array(task.chunks[part.chunk]!, part.at, part.sizeBytes)
    // parts of one partition share their list
    if (part.aborted !== list) {
      list = part.aborted
      aborted = new AbortedBatches(list)
    }
    const { fromOffset, toOffset } = part
    const isLeftOut = list.length === 0 ? undefined : (producerId: number, offset: number): boolean => aborted.has(producerId, offset)
    encoder.addBatches(part.partition, part.baseOffset, bytes, { fromOffset, toOffset, isLeftOut })
  }
  const { unknown, counts } = encoder
  if (unknown.length > 0) return { ...NO_FILE, key: task.key, unknown }
  const { chunks, ...stats } = encoder.finish()
  if (stats.rows > 0) await store.put(task.key, chunks, { reason: 'convert' })
  return { ...result(task.key, stats), values: counts }
}

/** Merges files into one, which is uploaded in parts as it comes. */
export async function merge(task: MergeTask, store: ObjectStore): Promise<FileResult> {
  const upload = new Upload(store, task.key, 'maintain')
  const inputs = task.inputs.map(({ key, sizeBytes }): MergeInput => ({
    sizeBytes,
    read: async (start, end) => (await store.getRange(key, { start, end }, { reason: 'maintain' })).body,
  }))
  try {
    const stats = await mergeRowFiles(
      inputs,
      (bytes) => upload.write(bytes),
      task.typing === undefined || task.typing === null ? {} : { typing: typingOf(task.typing) },
    )
    await upload.finish()
    return result(task.key, stats)
  } catch (error) {
    await upload.abort()
    throw error
  }
}

const NO_FILE: Omit<FileResult, 'key' | 'unknown'> = {
  sizeBytes: 0,
  rows: 0,
  ranges: [],
  metrics: { columnSizes: [], valueCounts: [], nullValueCounts: [], lowerBounds: [], upperBounds: [], splitOffsets: [] },
  values: null,
}

/** Typings that this thread parsed, by key: tasks of one table follow each other. */
const typings = new LRUCache<string, Typing>({ max: 16 })

function typingOf({ key, text }: { readonly key: string; readonly text: string }): Typing {
  if (key === '') return EMPTY_TYPING
  let typing = typings.get(key)
  if (typing === undefined) typings.set(key, (typing = parseTyping(text)))
  return typing
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
      nanValueCounts: [...stats.nanValueCounts],
      lowerBounds: [...stats.lowerBounds],
      upperBounds: [...stats.upperBounds],
      splitOffsets: [...stats.splitOffsets],
    },
    unknown: [],
    values: null,
  }
}
