import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { FrazilError } from '../../../src/base/errors.ts'
import type { Logger } from '../../../src/base/log.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { loadRooms } from '../../../src/metadata/snapshot/load.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { commit, createTopic, nextWalSequence, open, part } from './helpers.ts'
import { MemoryDisk, MemoryLog } from './memoryLog.ts'

const hash = (engine: MetadataEngine): string => hashRooms(engine.state.rooms).toString('hex')

async function fill(engine: MetadataEngine, topic: number, times: number): Promise<void> {
  for (let i = 0; i < times; i++)
    await commit(engine, part(topic, 0, 0, { producerId: 7, sequence: engine.state.partition(topic, 0)!.endOffset }))
}

function warnings(): { logger: Logger; texts: string[] } {
  const texts: string[] = []
  return { logger: { ...silentLogger, warn: (fields, message) => texts.push(`${message} ${JSON.stringify(fields)}`) }, texts }
}

describe('snapshots', () => {
  it('are written by a worker and give the same state as the log', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    await fill(engine, topic, 20)
    await engine.snapshot()
    await fill(engine, topic, 3)
    await engine.snapshot()
    await fill(engine, topic, 2)
    const before = hash(engine)
    const { lastEntry } = engine.state
    await engine.close()
    expect(log.disk.snapshots.size).toBe(2)

    // What is not in the log any more comes from the snapshot.
    expect(log.disk.floor).toBe(23)
    const { rooms, snapshot } = await loadRooms(new MemoryLog(log.disk), silentLogger)
    expect(snapshot).toBe(25)
    expect(hashRooms(rooms).toString('hex')).toBe(before)
    const again = await open(new MemoryLog(log.disk))
    expect(again.state.lastEntry).toBe(lastEntry + 1)
    expect(again.state.partition(topic, 0)!.endOffset).toBe(25)
    // The five-batch window came through as well: the third last batch is a duplicate.
    const result = await commit(again, part(topic, 0, 0, { producerId: 7, sequence: 22 }))
    expect(result.parts[0]).toMatchObject({ errors: [0], baseOffsets: [22], duplicates: [true] })
    await again.close()
  })

  it('are looked for anew when the log is truncated while it is loaded', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    for (let i = 0; i < 2; i++) {
      await fill(engine, topic, 5)
      await engine.snapshot()
    }
    const reader = new MemoryLog(log.disk)
    await reader.open()
    let late = false
    const slow = {
      floor: () => reader.floor(),
      read: (from: number) => reader.read(from),
      async readSnapshot(lastEntry: number) {
        if (!log.disk.snapshots.has(lastEntry)) throw new FrazilError('STORE_NOT_FOUND', 'it is gone')
        return reader.readSnapshot(lastEntry)
      },
      async snapshots() {
        const found = await reader.snapshots()
        if (late) return found
        late = true
        for (let i = 0; i < 2; i++) {
          await fill(engine, topic, 5)
          await engine.snapshot()
        }
        return found
      },
    }
    const { rooms } = await loadRooms(slow, silentLogger)
    expect(hashRooms(rooms).toString('hex')).toBe(hash(engine))
    await engine.close()
  })

  it('falls back to the one before when the newest is damaged, and does not truncate behind it', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    await fill(engine, topic, 5)
    await engine.snapshot()
    await fill(engine, topic, 5)
    await engine.snapshot()
    await fill(engine, topic, 5)
    await engine.close()
    const [first, newest] = [...log.disk.snapshots.keys()]
    const bytes = log.disk.snapshots.get(newest)!
    bytes[bytes.length >> 1] ^= 0xff

    const { logger, texts } = warnings()
    const again = await open(new MemoryLog(log.disk), { logger })
    expect(texts.join()).toContain('going back to the one before')
    expect(again.state.partition(topic, 0)!.endOffset).toBe(15)
    await again.snapshot()
    // The newest two are the new one and the damaged one: the good old one must stay.
    expect([...log.disk.snapshots.keys()]).toContain(first)
    expect(log.disk.floor).toBe(first + 1)
    await fill(again, topic, 1)
    await again.snapshot()
    expect(log.disk.snapshots.size).toBe(2)
    expect(log.disk.floor).toBeGreaterThan(newest)
    await again.close()
  })

  it('refuses to start with a sentence when neither snapshot nor entries are left', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    for (let i = 0; i < 2; i++) {
      await fill(engine, topic, 2)
      await engine.snapshot()
    }
    await engine.close()
    for (const bytes of log.disk.snapshots.values()) bytes[40] ^= 0xff
    await expect(open(new MemoryLog(log.disk))).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringContaining('no snapshot before it'),
    })
  })

  it('keeps entries whose attachment a live WAL object lies in (L10)', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    await engine.propose(
      { kind: 'commitWal', key: '', sizeBytes: 100, walSequence: nextWalSequence(engine), parts: [part(topic, 1, 0, {})] },
      [Buffer.alloc(60, 1), Buffer.alloc(40, 2)],
    )
    const pinned = engine.state.lastEntry
    for (let i = 0; i < 3; i++) {
      await fill(engine, topic, 3)
      await engine.snapshot()
    }
    expect(log.disk.floor).toBe(pinned)
    expect([...(await engine.readAttachment(pinned, 58, 62))]).toEqual([1, 1, 2, 2])
    await engine.propose({ kind: 'trimPartitions', trims: [{ topic, partition: 1, logStartOffset: 1 }] })
    await engine.snapshot()
    expect(log.disk.floor).toBeGreaterThan(pinned)
    await engine.close()
  })

  it('let dead attachments go when nothing is produced any more', async () => {
    const log = new MemoryLog()
    const engine = await open(log, { clock: systemClock, snapshots: { quietMs: 20, pauseMs: 0 } })
    const topic = await createTopic(engine, 'a', 2)
    for (let i = 0; i < 3; i++) {
      const sizeBytes = 1 << 20
      const parts = [part(topic, 1, 0, {})]
      await engine.propose({ kind: 'commitWal', key: '', sizeBytes, walSequence: nextWalSequence(engine), parts }, [
        Buffer.alloc(sizeBytes),
      ])
    }
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(log.sizeBytes()).toBeGreaterThan(3 << 20) // they are alive
    await engine.propose({ kind: 'trimPartitions', trims: [{ topic, partition: 1, logStartOffset: 3 }] })
    for (let i = 0; i < 500 && log.sizeBytes() > 1 << 20; i++) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(log.sizeBytes()).toBeLessThan(1 << 20)
    const { lastEntry } = engine.state
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(engine.state.lastEntry).toBe(lastEntry) // and then it is quiet
    await engine.close()
  })

  it('are written by policy', async () => {
    const log = new MemoryLog()
    const engine = await open(log, { snapshots: { entries: 10, pauseMs: 0 } })
    const topic = await createTopic(engine, 'a')
    await fill(engine, topic, 12)
    await engine.close()
    expect(log.disk.snapshots.size).toBe(1)
  })

  it('fail loudly and are tried again when the log cannot take them', async () => {
    const disk = new MemoryDisk()
    const log = new MemoryLog(disk)
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    await fill(engine, topic, 3)
    const write = log.writeSnapshot
    log.writeSnapshot = () => Promise.reject(new Error('disk full'))
    await expect(engine.snapshot()).rejects.toThrow('disk full')
    log.writeSnapshot = write
    await engine.snapshot()
    expect(disk.snapshots.size).toBe(1)
    await engine.close()
  })

  it('what is written but does not read back is not counted as good', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    const topic = await createTopic(engine, 'a')
    await fill(engine, topic, 3)
    await engine.snapshot()
    await fill(engine, topic, 3)
    const write = log.writeSnapshot.bind(log)
    log.writeSnapshot = (number, bytes) => {
      bytes[bytes.length >> 1] ^= 1
      return write(number, bytes)
    }
    await expect(engine.snapshot()).rejects.toMatchObject({ code: 'CORRUPT' })
    expect(log.disk.floor).toBe(1)
    await engine.close()
    expect((await open(new MemoryLog(log.disk))).state.partition(topic, 0)!.endOffset).toBe(6)
  })
})
