import { Errors } from '../../../protocol/errors.ts'
import type { MoveExtents, Result } from '../commands.ts'
import { MAX_OBJECT_BYTES } from '../state/extents.ts'
import { type Context, refused, OK } from './context.ts'
import { releaseWal } from './extents.ts'

interface Planned {
  readonly slot: number
  readonly bytes: number
}

/** Live ranges of old objects now lie in new ones (L14). Whole or not at all; several extents of a range become one, save
 * that an open transaction always begins an extent, so that none straddles the last stable offset. */
export function moveExtents(context: Context, command: MoveExtents): Result {
  const incarnation = context.incarnation!
  const { objects, deletionRows } = context.rooms
  let walSequence = incarnation.lastWalSequence
  const keys = new Set<string>()
  for (const object of command.objects) {
    if (object.walSequence <= walSequence)
      return refused(Errors.KAFKA_STORAGE_ERROR, `WAL sequence ${object.walSequence} is not above ${walSequence}`)
    walSequence = object.walSequence
    const used = object.key === '' || keys.has(object.key) || objects.hasKey(object.key) || deletionRows.has(object.key)
    if (used || object.sizeBytes > MAX_OBJECT_BYTES) return refused(Errors.INVALID_REQUEST, `the object ${object.key} cannot take extents`)
    keys.add(object.key)
  }
  const seen = new Set<number>()
  const plan: Planned[] = []
  for (const move of command.moves) {
    const planned = planMove(context, command, move, seen)
    if (typeof planned === 'string') return refused(Errors.INVALID_REQUEST, planned)
    plan.push(planned)
  }

  incarnation.lastWalSequence = walSequence
  const firstId = objects.nextId
  const liveBytes = command.objects.map(() => 0)
  plan.forEach(({ bytes }, i) => (liveBytes[command.moves[i].to] += bytes))
  objects.nextId += command.objects.length
  command.objects.forEach(({ key, sizeBytes }, i) => {
    if (liveBytes[i] === 0) return deletionRows.add(key, context.timeMs)
    objects.add({
      id: firstId + i,
      key,
      entry: context.entry,
      entryOffset: 0,
      sizeBytes,
      liveBytes: liveBytes[i],
      segment: true,
      createdMs: context.timeMs,
    })
  })
  plan.forEach((planned, i) => carryOut(context, command.moves[i], planned, firstId))
  return OK
}

function carryOut(context: Context, move: MoveExtents['moves'][number], { slot, bytes }: Planned, firstId: number): void {
  const { parts, transactions } = context.rooms
  const { open } = transactions
  const { extents } = parts
  const index = parts.index(slot)!
  // Moves before this one may have shortened the index: the range is found again.
  const from = parts.find(slot, move.firstOffset)
  const to = parts.find(slot, move.lastOffset) + 1
  const moved: number[] = []
  let byteOffset = move.byteOffset
  for (let i = from; i < to;) {
    const firstOffset = extents.firstOffset.get(index.at(i))
    const commitTimeMs = extents.commitTimeMs.get(index.at(i))
    let maxTimestampMs = -1
    let lastOffset = -1
    let sizeBytes = 0
    do {
      const extent = index.at(i++)
      maxTimestampMs = Math.max(maxTimestampMs, extents.maxTimestampMs.get(extent))
      lastOffset = extents.lastOffset.get(extent)
      sizeBytes += extents.originalBytes.get(extent)
      extents.remove(extent)
    } while (i < to && !open.beginsAt(slot, lastOffset + 1))
    moved.push(extents.addWal(firstOffset, lastOffset, maxTimestampMs, sizeBytes, commitTimeMs, firstId + move.to, byteOffset))
    byteOffset += sizeBytes
  }
  index.replace(from, to, moved)
  releaseWal(context, move.fromObject, bytes)
}

/** The whole extents that a move names, or why it cannot be. */
function planMove(context: Context, command: MoveExtents, move: MoveExtents['moves'][number], seen: Set<number>): Planned | string {
  const { parts, topicRows } = context.rooms
  const slot = topicRows.slot(move.topic, move.partition)
  const target = command.objects[move.to]
  if (slot < 0) return 'a topic is gone'
  if (target === undefined) return 'a move names no object'
  const { extents } = parts
  const from = parts.find(slot, move.firstOffset)
  const to = parts.find(slot, move.lastOffset) + 1
  const index = parts.index(slot)
  if (index === null || to > index.length || from >= to) return 'a range is gone'
  if (extents.firstOffset.get(index.at(from)) !== move.firstOffset || extents.lastOffset.get(index.at(to - 1)) !== move.lastOffset) {
    return 'a range is not made of whole extents'
  }
  let bytes = 0
  for (let i = from; i < to; i++) {
    const extent = index.at(i)
    if (!extents.isWal(extent) || extents.where.get(extent) !== move.fromObject)
      return 'a range is no longer in the object it is moved from'
    if (seen.has(extent)) return 'a range is moved twice'
    seen.add(extent)
    bytes += extents.originalBytes.get(extent)
  }
  if (move.byteOffset + bytes > target.sizeBytes) return 'a move reaches beyond its object'
  return { slot, bytes }
}
