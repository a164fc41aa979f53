import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { EMPTY_TYPING, parseTyping, type Typing } from '../../schemas/typing/typing.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { RowFileEncoder } from '../parquet/encoder.ts'
import { FIRST_RESERVED_ID } from '../parquet/lineage.ts'
import { mergeRowFiles, type MergeInput } from '../parquet/merge.ts'
import type { RowFileStats } from '../parquet/rowWriter.ts'
import type { BoundField } from '../partition/spec.ts'
import { splitRowFile } from '../partition/split.ts'
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
  const { partitionBy = [] } = task
  if (stats.rows > 0 && partitionBy.length > 0)
    return {
      ...(await putSplit(task.key, Buffer.concat(chunks), partitionBy, typed === null ? EMPTY_TYPING : typingOf(typed), store)),
      values: counts,
    }
  if (stats.rows > 0) await store.put(task.key, chunks, { reason: 'convert' })
  return { ...result(task.key, stats), values: counts }
}

/** Writes the rows of a file to one file a partition; the first has the task's key, the others keys that follow from it. */
async function putSplit(
  key: string,
  file: Uint8Array,
  fields: readonly BoundField[],
  typing: Typing,
  store: ObjectStore,
): Promise<FileResult> {
  const [first, ...siblings] = (await splitRowFile(file, fields, { typing })).map(({ values, stats, chunks }, number) => ({
    file: { ...result(siblingKey(key, number), stats), ...(values === null ? {} : { partition: { fields, values } }) },
    chunks,
  }))
  for (const one of [first!, ...siblings]) await store.put(one.file.key, one.chunks, { reason: 'convert' })
  return { ...first!.file, siblings: siblings.map((one) => one.file) }
}

/** A data key of the same incarnation whose uuid follows from another one's; number 0 is the key itself. */
function siblingKey(key: string, number: number): string {
  if (number === 0) return key
  const hex = createHash('sha256').update(`${key} ${number}`).digest('hex')
  const uuid = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
  return key.replace(/[0-9a-f-]{36}\.parquet$/, `${uuid}.parquet`)
}

/** Merges files into one, which is uploaded in parts as it comes. */
export async function merge(task: MergeTask, store: ObjectStore): Promise<FileResult> {
  const upload = new Upload(store, task.key, 'maintain')
  const inputs = task.inputs.map(({ key, sizeBytes, origin }): MergeInput => ({
    sizeBytes,
    ...(origin === undefined ? {} : { origin }),
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
      columnSizes: columns(stats.columnSizes),
      valueCounts: columns(stats.valueCounts),
      nullValueCounts: columns(stats.nullValueCounts),
      nanValueCounts: columns(stats.nanValueCounts),
      lowerBounds: columns(stats.lowerBounds),
      upperBounds: columns(stats.upperBounds),
      splitOffsets: [...stats.splitOffsets],
    },
    unknown: [],
    values: null,
  }
}

/** Statistics of columns of the table; those of lineage columns say nothing to a reader. */
function columns<V>(map: ReadonlyMap<number, V>): (readonly [number, V])[] {
  return [...map].filter(([id]) => id < FIRST_RESERVED_ID)
}
