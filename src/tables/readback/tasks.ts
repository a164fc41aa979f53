import type { Transferable } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { parseTyping, type Typing } from '../../schemas/typing/typing.ts'
import { freeBytes } from '../parquet/pageReader.ts'
import { indexFile, openGroup, type GroupIndex } from '../parquet/fileIndex.ts'
import type { Leaf } from '../parquet/schema.ts'
import { BATCH_BYTES, batchesOf, type BatchList } from './batches.ts'

/** Work of the reading back that would block the event loop. */
export type ReadbackTask =
  | { readonly kind: 'index'; readonly bytes: Uint8Array }
  | {
      readonly kind: 'decode'
      readonly group: GroupIndex
      readonly footer: Uint8Array | null
      readonly bytes: Uint8Array
      readonly userLeaves: readonly Leaf[]
      /** The table's typing as text, and its key; null when no row needs it. */
      readonly typing: { readonly key: string; readonly text: string } | null
    }

/** Typings that were parsed, by key: tasks of one table follow each other. */
const typings = new LRUCache<string, Typing>({ max: 16 })

function typingOf(given: { readonly key: string; readonly text: string } | null): Typing | null {
  if (given === null) return null
  let typing = typings.get(given.key)
  if (typing === undefined) typings.set(given.key, (typing = parseTyping(given.text)))
  return typing
}

/** What a worker of the reading back does with a task. */
export async function readbackTask(task: ReadbackTask): Promise<{ readonly value: unknown; readonly transfer?: readonly Transferable[] }> {
  if (task.kind === 'index') return { value: indexFile(task.bytes) }
  // What was handed over for this task ends with it.
  const typing = typingOf(task.typing)
  const source = await openGroup(task.group, task.footer, task.bytes, task.userLeaves, typing?.fields)
  const value: BatchList = batchesOf(source, BATCH_BYTES, typing)
  freeBytes(task.bytes)
  return { value, transfer: [...new Set(value.batches.map((batch) => batch.buffer as Transferable))] }
}
