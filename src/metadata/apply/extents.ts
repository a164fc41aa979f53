import type { TopicRow } from '../state/topics.ts'
import { type Context, WAL_GRACE_CONFIG, WAL_GRACE_MS } from './context.ts'

/** Takes live bytes off a WAL object; one with none left goes to the deletion queue, or frees its entry (L10, L13). */
export function releaseWal(context: Context, objectId: number, bytes: number): void {
  const { objects, deletionRows, configs } = context.rooms
  const object = objects.byId.get(objectId)!
  object.liveBytes -= bytes
  if (object.liveBytes > 0) return
  objects.remove(object)
  if (object.key !== '') deletionRows.add(object.key, context.timeMs + configs.clusterNumber(WAL_GRACE_CONFIG, WAL_GRACE_MS))
}

/** Frees one extent: WAL bytes, counters, row. Its place in the partition's index is the caller's to fill. */
export function freeExtent(context: Context, topic: TopicRow, partitionSlot: number, extent: number): void {
  const { parts } = context.rooms
  const { extents } = parts
  const bytes = extents.originalBytes.get(extent)
  parts.bytes.add(partitionSlot, -bytes)
  if (!extents.isTable(extent)) {
    const offsets = extents.lastOffset.get(extent) - extents.firstOffset.get(extent) + 1
    topic.unconvertedBytes -= bytes
    topic.unconvertedRecords -= offsets
    const stable = context.rooms.transactions.open.first(partitionSlot)
    if (stable >= 0 && extents.firstOffset.get(extent) >= stable) {
      topic.unstableBytes -= bytes
      topic.unstableRecords -= offsets
    }
    if (extents.isWal(extent)) releaseWal(context, extents.where.get(extent), bytes)
  }
  extents.remove(extent)
}

/** Drops the first `count` extents of a partition. */
export function dropFront(context: Context, topic: TopicRow, partitionSlot: number, count: number): void {
  if (count === 0) return
  const { parts } = context.rooms
  const index = parts.index(partitionSlot)!
  for (let i = 0; i < count; i++) freeExtent(context, topic, partitionSlot, index.at(i))
  index.shift(count)
  parts.converted.set(partitionSlot, Math.max(0, parts.converted.get(partitionSlot) - count))
}
