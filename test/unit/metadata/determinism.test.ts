import { describe, expect, it } from 'vitest'
import { followEntry } from '../../../src/metadata/apply/apply.ts'
import type { RawEntry } from '../../../src/metadata/entryLog.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { Rooms, State } from '../../../src/metadata/state/state.ts'
import { CommandSource } from './randomCommands.ts'

/** What must hold between the tables of a state, whatever was applied; what does not hold is listed. */
function violations(rooms: Rooms): string[] {
  const wrong: string[] = []
  const check = (holds: boolean, what: string): void => {
    if (!holds) wrong.push(`entry ${rooms.lastEntry}: ${what}`)
  }
  const state = new State(rooms)
  const live = new Map<number, number>()
  const inUse = new Set<number>()
  let extentCount = 0
  for (const topic of state.topics()) {
    let unconvertedBytes = 0
    let unconvertedRecords = 0
    for (let partition = 0; partition < topic.partitions; partition++) {
      const { logStartOffset, endOffset, lastStableOffset, sizeBytes } = state.partition(topic.topic, partition)!
      let next = 0
      let bytes = 0
      let walSeen = false
      for (const extent of state.extents(topic.topic, partition, 0)) {
        extentCount++
        check(extent.firstOffset >= next && extent.lastOffset >= extent.firstOffset, 'extents are in order')
        check(extent.lastOffset >= logStartOffset, 'nothing wholly below the log start is kept')
        bytes += extent.originalBytes
        const isStable = extent.lastOffset < lastStableOffset
        check(
          isStable || extent.firstOffset >= lastStableOffset || extent.firstOffset < logStartOffset,
          'no extent straddles the last stable offset',
        )
        if (extent.kind === 'wal') {
          check(!walSeen || extent.firstOffset === next, 'there are no holes in the WAL')
          walSeen = true
          if (isStable || extent.firstOffset < stableFrom(rooms, topic.topic, partition)) {
            unconvertedBytes += extent.sizeBytes
            unconvertedRecords += extent.lastOffset - extent.firstOffset + 1
          }
          live.set(extent.object, (live.get(extent.object) ?? 0) + extent.sizeBytes)
          check(extent.byteOffset + extent.sizeBytes <= (state.walObject(extent.object)?.sizeBytes ?? 0), 'an extent lies in its object')
        } else if (extent.kind === 'marker') {
          check(!walSeen || extent.firstOffset === next, 'there are no holes in the WAL')
          walSeen = true
          if (isStable) {
            unconvertedBytes += extent.originalBytes
            unconvertedRecords++
          }
        } else {
          check(!walSeen, 'what is in the table comes before what is in the WAL')
          for (const file of extent.files) {
            check(state.tableFile(file)?.topic === topic.topic, `file ${file} of an extent is live`)
            inUse.add(file)
          }
        }
        next = extent.lastOffset + 1
      }
      check(walSeen ? next === endOffset : next <= endOffset, 'extents reach to the end')
      check(bytes === sizeBytes, 'the size of a partition is that of its extents')
    }
    check(state.unconvertedBytes(topic.topic) === unconvertedBytes, 'unconverted bytes add up')
    check(state.unconvertedRecords(topic.topic) === unconvertedRecords, 'unconverted records add up')
  }
  check(rooms.parts.extents.count === extentCount, 'no extent is lost in the table')
  const objects = [...state.walObjects()]
  for (const object of objects) check(live.get(object.id) === object.liveBytes, 'live bytes of an object add up')
  check(live.size === objects.length, 'an object without live bytes is gone')
  const queued = new Set([...state.deletions()].map((deletion) => deletion.key))
  for (const object of objects) check(!queued.has(object.key), 'no live object is queued for deletion')
  for (const file of inUse) check(!queued.has(state.tableFile(file)!.key), 'no live file is queued for deletion')
  return wrong
}

/** Where the oldest open transaction begins, whatever the log start is. */
function stableFrom(rooms: Rooms, topic: number, partition: number): number {
  const first = rooms.transactions.open.first(rooms.topicRows.slot(topic, partition))
  return first < 0 ? Infinity : first
}

/** Offsets at or above the log start that can be read, by partition. */
function readable(rooms: Rooms): Map<string, Set<number>> {
  const state = new State(rooms)
  const all = new Map<string, Set<number>>()
  for (const { topic, partitions } of state.topics()) {
    for (let partition = 0; partition < partitions; partition++) {
      const offsets = new Set<number>()
      const { logStartOffset } = state.partition(topic, partition)!
      for (const { firstOffset, lastOffset } of state.extents(topic, partition, 0)) {
        for (let offset = Math.max(firstOffset, logStartOffset); offset <= lastOffset; offset++) offsets.add(offset)
      }
      all.set(`${topic}-${partition}`, offsets)
    }
  }
  return all
}

/** P1: what an entry took away, other than by a trim, a deleted topic, or a conversion that says there are no rows. */
function lost(before: Map<string, Set<number>>, rooms: Rooms): string[] {
  const state = new State(rooms)
  const after = readable(rooms)
  const missing: string[] = []
  for (const [key, offsets] of before) {
    const [topic, partition] = key.split('-').map(Number)
    const { logStartOffset } = state.partition(topic, partition) ?? { logStartOffset: Infinity }
    for (const offset of offsets) if (offset >= logStartOffset && !after.get(key)!.has(offset)) missing.push(`${key}:${offset}`)
  }
  return missing
}

describe('determinism (L5)', () => {
  for (const [seed, level] of [1, 2, 3, 5, 8, 13].flatMap((seed) => [[seed, 1] as const, [seed, 2] as const])) {
    it(`hash(replay) = hash(snapshot + tail), nothing is lost, all tables agree: level ${level}, seed ${seed}`, () => {
      const rooms = new Rooms()
      const source = new CommandSource(seed, rooms, level)
      const entries: RawEntry[] = []
      const kinds = new Map<string, number>()
      const wrong: string[] = []
      // A second state that goes through a snapshot every now and then.
      let other = new Rooms()
      for (let i = 0; i < 600; i++) {
        const before = readable(rooms)
        const raw = source.entry()
        entries.push(raw)
        const { results } = followEntry(rooms, raw)
        for (const result of results) {
          const key = result.kind === 'table' ? `table ${result.accepted}` : result.kind
          kinds.set(key, (kinds.get(key) ?? 0) + 1)
        }
        wrong.push(...lost(before, rooms), ...violations(rooms))
        followEntry(other, raw)
        if (source.random.chance(0.04)) other = decodeSnapshot(raw.number, encodeSnapshot(other))
        if (i % 20 === 0 && !hashRooms(other).equals(hashRooms(rooms))) wrong.push(`entry ${raw.number}: the hashes differ`)
      }
      const replayed = new Rooms()
      for (const raw of entries) followEntry(replayed, raw)
      expect(wrong).toEqual([])
      expect(hashRooms(replayed).toString('hex')).toBe(hashRooms(rooms).toString('hex'))
      expect(hashRooms(other).toString('hex')).toBe(hashRooms(rooms).toString('hex'))
      // The generator reaches what it is for.
      const reached = ['wal', 'table true', 'table false', 'topic', 'trimmed', 'refused', 'ok'].filter((kind) => (kinds.get(kind) ?? 0) > 5)
      expect(reached).toHaveLength(7)
      expect([(kinds.get('transaction') ?? 0) > 50, rooms.transactions.byId.size > 0]).toEqual([level > 1, level > 1])
    })
  }
})
