import { describe, expect, it } from 'vitest'
import { Marks } from '../../../src/metadata/logs/marks.ts'
import { StoreLog } from '../../../src/metadata/logs/storeLog.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import { bytesOf } from './entryLogSuite.ts'

describe('floor, snapshots and entries as objects', () => {
  it('writes these bytes for ever (docs/FORMATS.md)', async () => {
    const store = new MemoryStore()
    const log = new StoreLog({ store })
    await log.open()
    await log.append(1, bytesOf('entry 1'))
    expect((await store.get('meta/entries/00000000000000000001')).body.toString('hex')).toBe(
      `465a4f31ac309f78${bytesOf('entry 1').toString('hex')}`,
    )
    const marks = new Marks(store, 'meta/')
    await marks.writeSnapshot(8, bytesOf('state at 8'))
    const snapshot = (await store.get('meta/snapshots/00000000000000000008.snap')).body
    expect(snapshot.toString('hex')).toBe(`4652415a534e5031c43b817b00000000${bytesOf('state at 8').toString('hex')}`)
    await marks.raiseFloor(2 ** 53 - 1)
    expect((await store.get('meta/floor')).body.toString()).toBe('00009007199254740991\n')
  })

  it('finds any damage of a snapshot', async () => {
    const store = new MemoryStore()
    const marks = new Marks(store, 'meta/')
    await marks.writeSnapshot(1, bytesOf('state'))
    const key = 'meta/snapshots/00000000000000000001.snap'
    const { body } = await store.get(key)
    for (const at of [0, 7, 8, 11, 16, 20]) {
      const damaged = Buffer.from(body)
      damaged[at] ^= 1
      await store.put(key, damaged)
      await expect(marks.readSnapshot(1)).rejects.toMatchObject({ code: 'CORRUPT' })
    }
    await store.put(key, body.subarray(0, 10))
    await expect(marks.readSnapshot(1)).rejects.toMatchObject({ code: 'CORRUPT' })
  })

  it('never lowers the floor, whoever raises it, and refuses one that is no number', async () => {
    const store = new MemoryStore()
    await Promise.all([5, 9, 3, 7].map((floor) => new Marks(store, 'meta/').raiseFloor(floor)))
    expect(await new Marks(store, 'meta/').floor()).toBe(9)
    await store.put('meta/floor', bytesOf('9\n'))
    await expect(new Marks(store, 'meta/').floor()).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
  })
})
