import { describe, expect, it } from 'vitest'
import { type ErrorCode, FrazilError } from '../../../src/base/errors.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { type DecodedEntry, type EntryHead, GENESIS_HASH, assembleEntry, decodeEntry } from '../../../src/metadata/codec.ts'
import type { Result } from '../../../src/metadata/commands.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import type { AppliedChange } from '../../../src/metadata/port.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { loadRooms } from '../../../src/metadata/snapshot/load.ts'
import { commit, createTopic, FakeClock, open, part, walCommand } from './helpers.ts'
import { MemoryDisk, MemoryLog } from './memoryLog.ts'

describe('engine', () => {
  it('registers, creates topics, gives offsets, moves them to the table, and comes back after a restart', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    expect([engine.incarnation, engine.nodeId]).toEqual([1, 0])
    const topic = await createTopic(engine, 'orders', 2)
    const first = await commit(engine, part(topic, 0, 0, { count: 10 }, { count: 5 }), part(topic, 1, 200, { count: 3 }))
    expect(first.parts.map((p) => p.baseOffsets)).toEqual([[0, 10], [0]])
    await commit(engine, part(topic, 0, 0, { count: 5, maxTimestampMs: 2000 }))
    expect([...engine.state.extents(topic, 0, 0)].map((e) => [e.kind, e.firstOffset, e.lastOffset])).toEqual([
      ['wal', 0, 14],
      ['wal', 15, 19],
    ])
    const table = await engine.propose({
      kind: 'commitTable',
      topic,
      expectedVersion: 0,
      metadataKey: 'm1',
      publication: 1,
      snapshotId: 7,
      converted: [{ partition: 0, firstOffset: 0, lastOffset: 14 }],
      added: [
        {
          key: 'f1',
          sizeBytes: 50,
          rows: 15,
          level: 0,
          ranges: [{ partition: 0, firstOffset: 0, lastOffset: 14, rows: 15, maxTimestampMs: 1000, originalBytes: 200 }],
        },
      ],
      removed: [],
      obsolete: [],
      dataTimeMs: 5,
    })
    expect(table).toEqual({ kind: 'table', accepted: true, reason: '' })
    await engine.close()

    const again = await open(new MemoryLog(log.disk))
    expect([again.incarnation, again.nodeId]).toEqual([2, 0])
    expect(again.state.partition(topic, 0)).toMatchObject({ logStartOffset: 0, endOffset: 20, sizeBytes: 300 })
    expect([...again.state.extents(topic, 0, 0)].map((e) => [e.kind, e.firstOffset, e.lastOffset])).toEqual([
      ['table', 0, 14],
      ['wal', 15, 19],
    ])
    expect(again.state.firstUnconverted(topic, 0)).toBe(15)
    expect(again.state.table(topic)).toMatchObject({ version: 1, metadataKey: 'm1', snapshotId: 7, fileCount: 1 })
    expect(again.state.clusterId).toBe(engine.state.clusterId)
    await again.close()
  })
})

/** Holds every append until it is let go. */
function gate(log: MemoryLog): { release: () => void; waiting: () => number } {
  const waiting: (() => void)[] = []
  log.beforeAppend = () => new Promise((resolve) => waiting.push(resolve))
  return { release: () => waiting.shift()?.(), waiting: () => waiting.length }
}

const turns = async (n = 20): Promise<void> => {
  for (let i = 0; i < n; i++) await new Promise((resolve) => setImmediate(resolve))
}

function decoded(log: MemoryLog): DecodedEntry[] {
  return [...log.disk.entries].map(([number, { bytes }]) => decodeEntry(number, bytes))
}

describe('group commit', () => {
  it('writes a proposal at once when nothing is in flight, and all that wait behind it as one entry', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const { release, waiting } = gate(log)
    const results = [engine.propose({ kind: 'allocateProducerIds', count: 10 })]
    await turns(1)
    expect(waiting()).toBe(1)
    for (let i = 0; i < 50; i++) results.push(engine.propose({ kind: 'allocateProducerIds', count: 10 }))
    await turns()
    expect(waiting()).toBe(1)
    release()
    await turns()
    release()
    const firsts = (await Promise.all(results)).map((result) => (result.kind === 'producerIds' ? result.first : -1))
    expect(firsts).toEqual(Array.from({ length: 51 }, (_, i) => i * 10))
    expect(decoded(log).map((entry) => entry.proposals.length)).toEqual([1, 1, 50])
    expect(decoded(log).flatMap((entry) => entry.proposals.map((p) => p.sequence))).toEqual(Array.from({ length: 52 }, (_, i) => i))
    log.beforeAppend = () => {}
    await engine.close()
  })

  it('joins attachments; each object knows where it begins, and none goes above what the log takes', async () => {
    const log = new MemoryLog()
    log.attachmentMaxBytes = 300
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    const { release } = gate(log)
    const inline = (fill: number): Promise<Result> => {
      const command = walCommand(engine, [part(topic, 0, 20, { bytes: 80 })], { key: '', sizeBytes: 100 })
      return engine.propose(command, [Buffer.alloc(20, 255), Buffer.alloc(80, fill)])
    }
    const results = [1, 2, 3, 4, 5, 6].map(inline)
    for (let i = 0; i < 4; i++) {
      await turns()
      release()
    }
    const objects = (await Promise.all(results)).map((result) => (result.kind === 'wal' ? engine.state.walObject(result.object)! : null))
    expect(objects.map((object) => [object!.entryOffset, object!.sizeBytes, object!.liveBytes])).toEqual([
      [0, 100, 80],
      [100, 100, 80],
      [200, 100, 80],
      [0, 100, 80],
      [100, 100, 80],
      [200, 100, 80],
    ])
    expect(decoded(log).map((entry) => entry.attachmentBytes)).toEqual([0, 0, 300, 300])
    const fifth = engine.state.extentAt(topic, 0, 4)!
    const object = engine.state.walObject(fifth.kind === 'wal' ? fifth.object : -1)!
    const start = object.entryOffset + (fifth.kind === 'wal' ? fifth.byteOffset : 0)
    expect([...new Set(await engine.readAttachment(object.entry, start, start + 80))]).toEqual([5])
    log.beforeAppend = () => {}
    await engine.close()
  })

  it('refuses what cannot be an entry, alone', async () => {
    const engine = await open()
    const topic = await createTopic(engine, 'a')
    const command = walCommand(engine, [part(topic, 0, 0, {})], { key: '', sizeBytes: 100 })
    await expect(engine.propose(command, [Buffer.alloc(99)])).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(engine.propose({ kind: 'deleted', ids: [] }, [Buffer.alloc(1)])).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(engine.propose({ kind: 'nonsense' } as never)).rejects.toMatchObject({ code: 'REFUSED' })
    const big = walCommand(engine, [part(topic, 0, 0, { bytes: 2 << 20 })], { key: '', sizeBytes: 2 << 20 })
    await expect(engine.propose(big, [Buffer.alloc(2 << 20)])).rejects.toMatchObject({ code: 'LIMIT' })
    expect((await commit(engine, part(topic, 0, 0, {}))).parts[0].errors).toEqual([0])
    await engine.close()
  })
})

describe('failures of the log (L2, E9)', () => {
  const faults = (name: string, code: ErrorCode, when: 'before' | 'after'): void =>
    it(`${name}: the commit applies once`, async () => {
      const log = new MemoryLog()
      const engine = await open(log)
      const topic = await createTopic(engine, 'a')
      let left = 3
      const fail = (): void => {
        if (left-- > 0) throw new FrazilError(code, 'planted')
      }
      if (when === 'before') log.beforeAppend = fail
      else log.afterAppend = fail
      const results = await Promise.all([1, 2, 3, 4].map(() => commit(engine, part(topic, 0, 0, { count: 2 }))))
      expect(results.map((result) => result.parts[0].baseOffsets[0])).toEqual([0, 2, 4, 6])
      await engine.close()
      const again = await open(new MemoryLog(log.disk))
      expect(again.state.partition(topic, 0)!.endOffset).toBe(8)
      await again.close()
    })
  faults('the log fails before it writes', 'LOG_UNAVAILABLE', 'before')
  faults('the log writes and loses the answer', 'LOG_UNAVAILABLE', 'after')
  faults('the store fails before it writes', 'STORE_UNAVAILABLE', 'before')
  faults('the log is full but the entry landed', 'STORE_FULL', 'after')

  it.each(['STORE_FULL', 'LOG_REFUSED'] as const)(
    '%s fails what waits, keeps sequences without a gap, and it goes on later',
    async (code) => {
      const log = new MemoryLog()
      const engine = await open(log)
      const topic = await createTopic(engine, 'a')
      log.beforeAppend = () => {
        throw new FrazilError(code, 'no space left')
      }
      const failed = await Promise.allSettled([1, 2, 3].map(() => commit(engine, part(topic, 0, 0, {}))))
      expect(failed.map((f) => (f.status === 'rejected' ? f.reason.code : 'done'))).toEqual([code, code, code])
      expect(engine.stopped).toBe(null)
      log.beforeAppend = () => {}
      expect((await commit(engine, part(topic, 0, 0, {}))).parts[0].baseOffsets).toEqual([0])
      const sequences = decoded(log).flatMap((entry) => entry.proposals.map((p) => p.sequence))
      expect(sequences).toEqual([0, 1, 2])
      await engine.close()
    },
  )

  it('an entry that turns up after it was given up does not answer for the next one', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    let ghost: (() => void) | null = null
    const append = log.append.bind(log)
    log.append = (number, bytes, attachment) => {
      if (ghost !== null) return append(number, bytes, attachment)
      const copy = Buffer.from(bytes)
      ghost = () => void append(number, copy, attachment)
      return Promise.reject(new FrazilError('STORE_FULL', 'no space left'))
    }
    await expect(commit(engine, part(topic, 0, 0, { count: 5 }))).rejects.toMatchObject({ code: 'STORE_FULL' })
    ghost!()
    const result = await commit(engine, part(topic, 0, 0, { count: 3 }))
    expect(result.parts[0].baseOffsets).toEqual([5])
    await engine.close()
  })
})

describe('two writers', () => {
  it('take turns at the same log and see the same state', async () => {
    const disk = new MemoryDisk()
    const a = await open(new MemoryLog(disk), { pod: 'pod-a' })
    const b = await open(new MemoryLog(disk), { pod: 'pod-b' })
    expect([a.nodeId, b.nodeId, b.incarnation]).toEqual([0, 1, 2])
    await a.barrier()
    const topic = await createTopic(a, 'a')
    await b.barrier()
    const work = async (engine: MetadataEngine): Promise<number[]> => {
      const offsets: number[] = []
      for (let i = 0; i < 30; i++) offsets.push((await commit(engine, part(topic, 0, 0, {}))).parts[0].baseOffsets[0])
      return offsets
    }
    const both = await Promise.all([work(a), work(b)])
    expect(both.flat().sort((x, y) => x - y)).toEqual(Array.from({ length: 60 }, (_, i) => i))
    await Promise.all([a.barrier(), b.barrier()])
    expect(hashRooms(a.state.rooms).equals(hashRooms(b.state.rooms))).toBe(true)
    await a.close()
    await b.close()
  })

  it('of one pod: the newer fences the older, which stops (L13, L22)', async () => {
    const disk = new MemoryDisk()
    const stops: string[] = []
    const old = await open(new MemoryLog(disk), { onStop: (error) => stops.push(error.code) })
    const topic = await createTopic(old, 'a')
    const young = await open(new MemoryLog(disk))
    expect([young.incarnation, young.nodeId]).toEqual([2, 0])
    await expect(commit(old, part(topic, 0, 0, {}))).rejects.toMatchObject({ code: 'FENCED' })
    await expect(old.propose({ kind: 'deleted', ids: [] })).rejects.toMatchObject({ code: 'FENCED' })
    expect(stops).toEqual(['FENCED'])
    expect((await commit(young, part(topic, 0, 0, {}))).parts[0].baseOffsets).toEqual([0])
    await old.close()
    await young.close()
  })
})

describe('barrier (L8)', () => {
  it('asks for the end once for all who wait, and once more for those who came later', async () => {
    const disk = new MemoryDisk()
    const log = new MemoryLog(disk)
    const engine = await open(log, { pod: 'pod-a' })
    const other = await open(new MemoryLog(disk), { pod: 'pod-b' })
    await createTopic(other, 'theirs')
    log.endCalls = 0
    const first = Array.from({ length: 100 }, () => engine.barrier())
    await Promise.resolve()
    await Promise.resolve()
    const later = Array.from({ length: 100 }, () => engine.barrier())
    await Promise.all([...first, ...later])
    expect(log.endCalls).toBe(2)
    expect(engine.state.topicByName('theirs')).not.toBe(null)
    await other.close()
    await engine.close()
  })

  it('does not wait for proposals that came after it', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const { release } = gate(log)
    const proposal = engine.propose({ kind: 'allocateProducerIds', count: 1 })
    await turns(2)
    await engine.barrier()
    expect(engine.state.lastEntry).toBe(1)
    release()
    expect((await proposal).kind).toBe('producerIds')
    log.beforeAppend = () => {}
    await engine.close()
  })
})

describe('the chain (L3, L5)', () => {
  async function filled(): Promise<MemoryDisk> {
    const log = new MemoryLog()
    const engine = await open(log)
    await createTopic(engine, 'a')
    await createTopic(engine, 'b')
    await engine.close()
    return log.disk
  }
  const put = (disk: MemoryDisk, number: number, bytes: Buffer): void =>
    void disk.entries.set(number, { bytes, attachment: Buffer.alloc(0) })
  const head = (number: number, previousHash: Uint8Array): EntryHead => ({ number, previousHash, timeMs: 1, writer: 1, attachmentBytes: 0 })

  it('a changed entry breaks the one after it', async () => {
    const disk = await filled()
    const bytes = disk.entries.get(2)!.bytes
    bytes[bytes.indexOf('default')] ^= 1
    await expect(open(new MemoryLog(disk))).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringContaining('entry 3 does not follow'),
    })
  })

  it('bytes that are no entry, a wrong number, a lost attachment', async () => {
    let disk = await filled()
    put(disk, 4, Buffer.from([0xff, 0xff, 0xff]))
    await expect(open(new MemoryLog(disk))).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringContaining('cannot be decoded'),
    })
    disk = await filled()
    put(disk, 4, assembleEntry(head(5, GENESIS_HASH), []))
    await expect(open(new MemoryLog(disk))).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    disk = await filled()
    disk.entries.get(3)!.attachment = Buffer.alloc(5)
    await expect(open(new MemoryLog(disk))).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringContaining('carries 5 bytes'),
    })
  })

  it('a higher version, and a command of a newer program, stop with a sentence', async () => {
    const disk = await filled()
    const { rooms } = await loadRooms(new MemoryLog(disk), silentLogger)
    const unknown = assembleEntry(head(4, rooms.lastHash), [
      // Field 120 of Proposal, an empty message.
      { incarnation: 1, sequence: 3, attachmentOffset: 0, bytes: Buffer.from([0xc2, 0x07, 0x00]) },
    ])
    put(disk, 4, unknown)
    await expect(open(new MemoryLog(disk))).rejects.toMatchObject({
      code: 'LEVEL_UNKNOWN',
      message: expect.stringContaining('start a newer one'),
    })
    const newer = assembleEntry(head(4, rooms.lastHash), [])
    newer[newer.indexOf(Buffer.from([0x18, 0x01])) + 1] = 2
    put(disk, 4, newer)
    await expect(open(new MemoryLog(disk))).rejects.toMatchObject({ code: 'LEVEL_UNKNOWN', message: expect.stringContaining('version 2') })
  })

  it('a pod whose state the log does not follow from drops it and loads the log anew', async () => {
    const disk = new MemoryDisk()
    const a = await open(new MemoryLog(disk), { pod: 'pod-a' })
    const b = await open(new MemoryLog(disk), { pod: 'pod-b' })
    await a.barrier()
    const view = a.state
    // As after a restore under a running pod: what it remembers is not what the log says.
    a.state.rooms.lastHash = Buffer.alloc(32, 9)
    await createTopic(b, 'theirs')
    await a.barrier()
    expect(view.topicByName('theirs')).not.toBe(null)
    expect((await createTopic(a, 'ours')) > 0).toBe(true)
    await a.close()
    await b.close()
  })

  it('time in entries never goes back', async () => {
    const log = new MemoryLog()
    const clock = new FakeClock()
    const engine = await open(log, { clock })
    const times: number[] = [engine.state.lastTimeMs]
    for (const stepMs of [1000, -5000, 0, 7000]) {
      clock.nowMs += stepMs
      await engine.propose({ kind: 'allocateProducerIds', count: 1 })
      times.push(engine.state.lastTimeMs)
    }
    const start = times[0]
    expect(times.map((time) => time - start)).toEqual([0, 1000, 1000, 1000, 3000])
    await engine.close()
  })

  it('a listener that throws does not stop the engine; close writes what is queued and refuses what comes', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const seen: AppliedChange[] = []
    engine.onApplied(() => {
      throw new Error('mine')
    })
    engine.onApplied((change) => seen.push(change))
    const topic = await createTopic(engine, 'a')
    await commit(engine, part(topic, 1, 0, {}))
    expect(seen).toEqual([
      { entry: 2, appended: [], other: true },
      { entry: 3, appended: [topic, 1], other: false },
    ])
    const last = [1, 2, 3].map(() => engine.propose({ kind: 'allocateProducerIds', count: 1 }))
    await engine.close()
    expect((await Promise.all(last)).map((result) => result.kind)).toEqual(['producerIds', 'producerIds', 'producerIds'])
    await expect(engine.propose({ kind: 'deleted', ids: [] })).rejects.toMatchObject({ code: 'CLOSED' })
  })
})
