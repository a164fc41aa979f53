import { describe, expect, it } from 'vitest'
import type { EntryLog } from '../../../src/metadata/entryLog.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { FolderLog } from '../../../src/metadata/logs/folderLog.ts'
import { StoreLog } from '../../../src/metadata/logs/storeLog.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { loadRooms } from '../../../src/metadata/snapshot/load.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { seededFaults } from '../../../src/storage/faults.ts'
import { FolderStore } from '../../../src/storage/folder.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import { QuickClock } from '../storage/quickClock.ts'
import { tempFolder } from '../storage/temp.ts'
import { commit, createTopic, nextWalSequence, open, part } from './helpers.ts'

interface Home {
  log(): Promise<EntryLog>
}

const folderHome = (): Home => {
  const path = tempFolder()
  return {
    async log() {
      const store = new FolderStore({ path, fsync: false })
      await store.open()
      return new FolderLog({ store, podName: 'pod-a', lockWaitMs: 0, segmentBytes: 64 << 10, makeAhead: false })
    },
  }
}

const storeHome = (store: MemoryStore, clock?: QuickClock): Home => ({
  log: () => Promise.resolve(new StoreLog({ store, tries: 30, clock, retentionMs: 0 })),
})

const faulty = (): Home => {
  const clock = new QuickClock()
  const faults = seededFaults(seededRandom(5), { errorRate: 0.1, lostAnswerRate: 0.1, unknownRate: 0.1, delayMaxMs: 1 })
  return storeHome(new MemoryStore({ pageKeys: 100, faults, clock }), clock)
}

async function produce(engine: MetadataEngine, topic: number, times: number): Promise<void> {
  const sequence = engine.state.producer(topic, 0, 9)?.batches.at(-1)?.lastSequence ?? -1
  const results = await Promise.all(
    Array.from({ length: times }, (_, i) => commit(engine, part(topic, 0, 0, { producerId: 9, sequence: sequence + 1 + i }))),
  )
  if (results.some((result) => result.parts[0].errors[0] !== 0)) throw new Error('a batch was refused')
}

/** The first path over each real log: what was answered is there after every restart, also when only a snapshot has it. */
describe.each([
  ['folder log', folderHome],
  ['store log', () => storeHome(new MemoryStore({ pageKeys: 100 }))],
  ['store log that fails, delays and loses answers', faulty],
] as const)('engine over the %s', (_, make) => {
  it('keeps everything over restarts, snapshots and truncation', async () => {
    const home = make()
    let topic = 0
    for (let run = 0; run < 4; run++) {
      const log = await home.log()
      const engine = await open(log, { snapshots: { entries: 1 << 30 } })
      expect(engine.incarnation).toBe(run + 1)
      if (run === 0) topic = await createTopic(engine, 'orders')
      expect(engine.state.partition(topic, 0)!.endOffset).toBe(run * 80)
      await produce(engine, topic, 40)
      await engine.snapshot()
      await produce(engine, topic, 40)
      await engine.barrier()
      const hash = hashRooms(engine.state.rooms).toString('hex')
      await engine.close()
      const reader = await home.log()
      await reader.open()
      const { rooms, snapshot } = await loadRooms(reader, silentLogger)
      expect(hashRooms(rooms).toString('hex')).toBe(hash)
      expect(snapshot).toBeGreaterThan(0)
      expect((await reader.floor()) > 1).toBe(run > 0)
      await reader.close()
    }
  })
})

describe('engine over the folder log', () => {
  it('objects that ride inside entries come back, together and after a restart', async () => {
    const home = folderHome()
    const engine = await open(await home.log())
    const topic = await createTopic(engine, 'a')
    const send = (fill: number) => {
      const command = {
        kind: 'commitWal',
        key: '',
        sizeBytes: 64,
        walSequence: nextWalSequence(engine),
        parts: [part(topic, 0, 0, { bytes: 64 })],
      } as const
      return engine.propose(command, [Buffer.alloc(30, fill), Buffer.alloc(34, fill)])
    }
    await Promise.all([1, 2, 3, 4, 5].map(send))
    await engine.close()
    const again = await open(await home.log())
    const fills: number[] = []
    for (const extent of again.state.extents(topic, 0, 0)) {
      const object = again.state.walObject(extent.kind === 'wal' ? extent.object : -1)!
      const bytes = await again.readAttachment(object.entry, object.entryOffset, object.entryOffset + object.sizeBytes)
      fills.push(...new Set(bytes))
    }
    expect(fills).toEqual([1, 2, 3, 4, 5])
    await again.close()
  })

  it('a folder that another engine holds is refused, and given up when that one closes', async () => {
    const home = folderHome()
    const engine = await open(await home.log())
    await expect(open(await home.log())).rejects.toMatchObject({ code: 'STORE_IN_USE' })
    await engine.close()
    const again = await open(await home.log())
    expect(again.incarnation).toBe(2)
    await again.close()
  })
})
