import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { FolderStore } from '../../../src/storage/folder.ts'
import { lockFolder } from '../../../src/storage/lock.ts'
import { child } from './child.ts'
import { keys, text } from './suite.ts'
import { smallDisk } from './smallDisk.ts'
import { tempFolder } from './temp.ts'

const STORAGE = new URL('../../../src/storage/', import.meta.url).href

describe('folder store: kill -9', () => {
  it('leaves only whole objects, and all that were acknowledged', { timeout: 60_000 }, async () => {
    const root = tempFolder()
    for (let round = 1; round <= 5; round++) {
      const writer = await child(`
        import { FolderStore } from '${STORAGE}folder.ts'
        const store = new FolderStore({ path: ${JSON.stringify(root)} })
        await store.open()
        console.log('ready')
        const work = async (id) => {
          for (let i = 1; ; i++) {
            await store.put('same/' + id, Buffer.alloc(100_000 + i, i))
            await store.putIfAbsent('new/${round}/' + id + '/' + i, [Buffer.alloc(30_000, i), Buffer.alloc(i, i)])
            process.stdout.write(id + ' ' + i + '\\n')
          }
        }
        await Promise.all([1, 2, 3].map(work))`)
      await writer.printed(10 + round * 5)
      await writer.kill()
      const acknowledged = new Map<string, number>()
      for (const line of writer.lines().slice(1)) acknowledged.set(line.split(' ')[0], Number(line.split(' ')[1]))
      const store = new FolderStore({ path: root })
      await store.open()
      await store.removeUnfinished()
      expect(fs.readdirSync(path.join(root, '.tmp'))).toEqual([])
      for (const key of await keys(store, '')) {
        const { body } = await store.get(key)
        const i = body.length - (key.startsWith('same/') ? 100_000 : 30_000)
        expect(i).toBeGreaterThan(0)
        expect(body.equals(Buffer.alloc(body.length, i))).toBe(true)
      }
      for (const [id, last] of acknowledged) {
        expect((await store.head(`same/${id}`))!.sizeBytes).toBeGreaterThanOrEqual(100_000 + last)
        for (let i = 1; i <= last; i++) expect(await store.head(`new/${round}/${id}/${i}`)).not.toBeNull()
      }
    }
  })

  it('releases the folder with the process, and not before', { timeout: 60_000 }, async () => {
    const root = tempFolder()
    const holder = await child(`
      import { lockFolder } from '${STORAGE}lock.ts'
      await lockFolder(${JSON.stringify(root)}, 'first')
      console.log('ready')
      setInterval(() => {}, 1000)`)
    await expect(lockFolder(root, 'second', { waitMs: 100 })).rejects.toMatchObject({
      code: 'STORE_IN_USE',
      message: expect.stringMatching(/^the folder \S+ belongs to another running process \(pod "first", process \d+\)$/),
    })
    const waiting = lockFolder(root, 'second', { waitMs: 10_000 })
    await holder.kill()
    const lock = await waiting
    await expect(lockFolder(root, 'third', { waitMs: 0 })).rejects.toMatchObject({ code: 'STORE_IN_USE' })
    lock.release()
    lock.release()
    const last = await lockFolder(root, 'third', { waitMs: 0 })
    last.release()
  })
})

describe('folder store: full disk', () => {
  it('says STORE_FULL, keeps what is there, and goes on when space returns', async () => {
    const disk = smallDisk(4 << 20)
    const root = disk.folder
    const store = new FolderStore({ path: root, files: disk.files })
    await store.open()
    await store.put('ballast', Buffer.alloc(2 << 20, 1))
    await store.put('k', Buffer.alloc(1 << 20, 2))
    await expect(store.put('k', Buffer.alloc(3 << 20, 3))).rejects.toMatchObject({ code: 'STORE_FULL' })
    await expect(store.putIfAbsent('l', Buffer.alloc(3 << 20, 3))).rejects.toMatchObject({ code: 'STORE_FULL' })
    const upload = await store.multipart('m')
    await expect(upload.putPart(1, Buffer.alloc(3 << 20, 3))).rejects.toMatchObject({ code: 'STORE_FULL' })
    await upload.abort()
    expect(await keys(store, '')).toEqual(['ballast', 'k'])
    expect((await store.get('k')).body.equals(Buffer.alloc(1 << 20, 2))).toBe(true)
    expect(fs.readdirSync(path.join(root, '.tmp'))).toEqual([])
    await store.delete(['ballast'])
    await store.put('k', Buffer.alloc(2 << 20, 4))
    await store.put('l', text('small'))
    expect((await store.get('k')).body.equals(Buffer.alloc(2 << 20, 4))).toBe(true)
  })
})
