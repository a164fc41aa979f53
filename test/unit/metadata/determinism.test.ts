import { describe, expect, it } from 'vitest'
import { followEntry } from '../../../src/metadata/apply/apply.ts'
import type { RawEntry } from '../../../src/metadata/entryLog.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { Rooms, State } from '../../../src/metadata/state/state.ts'
import { CommandSource } from './randomCommands.ts'

/** What must hold between the tables of a state, whatever was applied. */
function checkInvariants(rooms: Rooms): void {
  const state = new State(rooms)
  const live = new Map<number, number>()
  const inUse = new Set<number>()
  let extentCount = 0
  for (const topic of state.topics()) {
    let unconvertedBytes = 0
    let unconvertedRecords = 0
    for (let partition = 0; partition < topic.partitions; partition++) {
      const { logStartOffset, endOffset, sizeBytes } = state.partition(topic.topic, partition)!
      let next = 0
      let bytes = 0
      let walSeen = false
      for (const extent of state.extents(topic.topic, partition, 0)) {
        extentCount++
        expect(extent.firstOffset).toBeGreaterThanOrEqual(next)
        expect(extent.lastOffset).toBeGreaterThanOrEqual(extent.firstOffset)
        expect(extent.lastOffset).toBeGreaterThanOrEqual(logStartOffset)
        bytes += extent.originalBytes
        if (extent.kind === 'wal') {
          // Records in the WAL have no holes between them, up to the end of the log.
          if (walSeen) expect(extent.firstOffset).toBe(next)
          walSeen = true
          unconvertedBytes += extent.sizeBytes
          unconvertedRecords += extent.lastOffset - extent.firstOffset + 1
          live.set(extent.object, (live.get(extent.object) ?? 0) + extent.sizeBytes)
          expect(extent.byteOffset + extent.sizeBytes).toBeLessThanOrEqual(state.walObject(extent.object)!.sizeBytes)
        } else {
          expect(walSeen).toBe(false)
          for (const file of extent.files) {
            expect(state.tableFile(file)?.topic).toBe(topic.topic)
            inUse.add(file)
          }
        }
        next = extent.lastOffset + 1
      }
      if (walSeen) expect(next).toBe(endOffset)
      expect(next).toBeLessThanOrEqual(endOffset)
      expect(bytes).toBe(sizeBytes)
    }
    expect(state.unconvertedBytes(topic.topic)).toBe(unconvertedBytes)
    expect(state.unconvertedRecords(topic.topic)).toBe(unconvertedRecords)
  }
  expect(rooms.parts.extents.count).toBe(extentCount)
  for (const object of state.walObjects()) expect(live.get(object.id)).toBe(object.liveBytes)
  expect(live.size).toBe([...state.walObjects()].length)
  const queued = new Set([...state.deletions()].map((deletion) => deletion.key))
  for (const object of state.walObjects()) expect(queued.has(object.key)).toBe(false)
  for (const file of inUse) expect(queued.has(state.tableFile(file)!.key)).toBe(false)
}

describe('determinism (L5)', () => {
  for (const seed of [1, 2, 3, 5, 8, 13]) {
    it(`hash(replay) = hash(snapshot + tail), seed ${seed}`, () => {
      const rooms = new Rooms()
      const source = new CommandSource(seed, rooms)
      const entries: RawEntry[] = []
      const kinds = new Map<string, number>()
      // A second state that goes through a snapshot every now and then.
      let other = new Rooms()
      for (let i = 0; i < 600; i++) {
        const raw = source.entry()
        entries.push(raw)
        const { results } = followEntry(rooms, raw)
        for (const result of results) {
          const key = result.kind === 'table' ? `table ${result.accepted}` : result.kind
          kinds.set(key, (kinds.get(key) ?? 0) + 1)
        }
        const again = followEntry(other, raw)
        // Answers to repeated proposals come from memory, which a snapshot does not have.
        if (i % 37 !== 0 && i > 64) expect(again.results.length).toBe(results.length)
        if (source.random.chance(0.04)) other = decodeSnapshot(raw.number, encodeSnapshot(other))
        if (i % 20 === 0) {
          expect(hashRooms(other).toString('hex')).toBe(hashRooms(rooms).toString('hex'))
          checkInvariants(rooms)
        }
      }
      const replayed = new Rooms()
      for (const raw of entries) followEntry(replayed, raw)
      expect(hashRooms(replayed).toString('hex')).toBe(hashRooms(rooms).toString('hex'))
      // The generator reaches what it is for.
      for (const kind of ['wal', 'table true', 'table false', 'topic', 'trimmed', 'refused', 'ok'])
        expect(kinds.get(kind) ?? 0).toBeGreaterThan(5)
    })
  }
})
