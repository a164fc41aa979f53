import fs from 'node:fs'
import path from 'node:path'
import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { Directories } from '../../../src/storage/directories.ts'
import { systemFiles, type Files } from '../../../src/storage/files.ts'
import { FolderStore } from '../../../src/storage/folder.ts'
import { StoreMetrics } from '../../../src/storage/metrics.ts'
import { openStore } from '../../../src/storage/open.ts'
import { FailingFiles, type Call } from './failingFiles.ts'
import { QuickClock } from './quickClock.ts'
import { keys, storeSuite, text } from './suite.ts'
import { tempFolder } from './temp.ts'

async function open(root: string, failing?: FailingFiles, fsync = true): Promise<FolderStore> {
  const store = new FolderStore({ path: root, files: failing?.files, fsync })
  await store.open()
  return store
}

storeSuite('folder store', () => open(tempFolder(), undefined, false))

function temps(root: string): string[] {
  return fs.readdirSync(path.join(root, '.tmp'))
}

describe('folder store: durability', () => {
  it('syncs the file before it moves it, and every new folder after', async () => {
    const root = tempFolder()
    const failing = new FailingFiles()
    const store = await open(root, failing)
    const steps = async (task: () => Promise<unknown>): Promise<string[]> => {
      failing.calls.length = 0
      await task()
      const names: string[] = []
      for (const { call, args } of failing.calls) {
        if (['rename', 'link', 'fdatasync', 'writev'].includes(call)) names.push(call)
        if (call === 'open' && args[1] === fs.constants.O_RDONLY) names.push(`sync ${path.relative(root, String(args[0]))}`)
      }
      return names
    }
    expect(await steps(() => store.put('a/b/k', text('x')))).toEqual(['writev', 'fdatasync', 'sync ', 'sync a', 'rename', 'sync a/b'])
    expect(await steps(() => store.put('a/b/k', text('x')))).toEqual(['writev', 'fdatasync', 'rename', 'sync a/b'])
    expect(await steps(() => store.putIfAbsent('a/b/l', text('x')))).toEqual(['writev', 'fdatasync', 'link', 'sync a/b'])
    expect(await steps(() => store.putIfAbsent('a/b/l', text('x')))).toEqual(['writev', 'fdatasync', 'link', 'sync a/b'])
  })

  it('shares one fsync of a folder among writers that finish together', async () => {
    const root = tempFolder()
    const failing = new FailingFiles()
    const store = await open(root, failing)
    await store.put('d/0', text('x'))
    failing.calls.length = 0
    await Promise.all(Array.from({ length: 50 }, (_, i) => store.put(`d/${i}`, text('x'))))
    expect(failing.calls.filter(({ call }) => call === 'fdatasync')).toHaveLength(50)
    expect(failing.calls.filter(({ call }) => call === 'fsync').length).toBeLessThan(50)
  })

  it('fails all whose folder was being synced when that failed, and none later', async () => {
    const failing = new FailingFiles()
    const folder = tempFolder()
    const directories = new Directories(failing.files, true)
    let syncs = 0
    failing.plan = (call) => (call === 'fsync' && syncs++ === 0 ? { code: 'EIO' } : null)
    const answers = await Promise.allSettled([directories.sync(folder), directories.sync(folder), directories.sync(folder)])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await directories.sync(folder)
    expect(syncs).toBe(2)
  })

  it('syncs nothing when told so', async () => {
    const failing = new FailingFiles()
    const store = await open(tempFolder(), failing, false)
    await store.put('a/b', text('x'))
    await store.delete(['a/b'])
    expect(failing.calls.filter(({ call }) => call === 'fsync' || call === 'fdatasync')).toEqual([])
  })
})

describe('folder store: failing calls', () => {
  const cases: { call: Call; code: string; expected: string }[] = [
    { call: 'open', code: 'ENOSPC', expected: 'STORE_FULL' },
    { call: 'open', code: 'EMFILE', expected: 'STORE_UNAVAILABLE' },
    { call: 'open', code: 'EROFS', expected: 'STORE_UNAVAILABLE' },
    { call: 'open', code: 'EACCES', expected: 'STORE_UNAVAILABLE' },
    { call: 'writev', code: 'ENOSPC', expected: 'STORE_FULL' },
    { call: 'writev', code: 'EDQUOT', expected: 'STORE_FULL' },
    { call: 'writev', code: 'EIO', expected: 'STORE_UNAVAILABLE' },
    { call: 'fdatasync', code: 'EIO', expected: 'STORE_UNAVAILABLE' },
    { call: 'fdatasync', code: 'ENOSPC', expected: 'STORE_FULL' },
    { call: 'rename', code: 'EIO', expected: 'STORE_UNKNOWN' },
    { call: 'rename', code: 'ENOSPC', expected: 'STORE_FULL' },
    { call: 'fsync', code: 'EIO', expected: 'STORE_UNKNOWN' },
  ]
  for (const { call, code, expected } of cases) {
    it(`${call} with ${code} is ${expected}; old bytes stay, no temporary file does, the next write is good`, async () => {
      const root = tempFolder()
      const failing = new FailingFiles()
      const store = await open(root, failing)
      await store.put('d/k', text('old'))
      failing.plan = (made) => (made === call ? { code } : null)
      await expect(store.put('d/k', text('new'))).rejects.toMatchObject({ name: 'FrazilError', code: expected })
      failing.plan = () => null
      expect(temps(root)).toEqual([])
      // After the rename the new bytes are there: that is what "unknown" means.
      expect((await store.get('d/k')).body.toString()).toBe(call === 'fsync' ? 'new' : 'old')
      expect(failing.abused).toEqual([])
      await store.put('d/k', text('newer'))
      expect((await store.get('d/k')).body.toString()).toBe('newer')
    })
  }

  it('goes on after a short write', async () => {
    const failing = new FailingFiles()
    const store = await open(tempFolder(), failing)
    failing.plan = (call) => (call === 'writev' ? { code: 'never', afterBytes: 7 } : null)
    const parts = [text('abc'), text('defghijklmn'), text('o'), text('pqrstuvwxyz')]
    await store.put('k', parts)
    expect((await store.get('k')).body.toString()).toBe('abcdefghijklmnopqrstuvwxyz')
  })

  it('says in a sentence what is wrong', async () => {
    const failing = new FailingFiles()
    const store = await open(tempFolder(), failing)
    failing.plan = (call) => (call === 'writev' ? { code: 'EROFS' } : null)
    await expect(store.put('k', text('x'))).rejects.toThrow('cannot write k: the file system is read-only')
  })

  it('tells a multipart part that failed from the object, and lets it be sent again', async () => {
    const root = tempFolder()
    const failing = new FailingFiles()
    const store = await open(root, failing)
    const upload = await store.multipart('k')
    failing.plan = (call) => (call === 'writev' ? { code: 'ENOSPC' } : null)
    await expect(upload.putPart(1, text('one'))).rejects.toMatchObject({ code: 'STORE_FULL' })
    await expect(upload.complete()).rejects.toMatchObject({ code: 'REFUSED' })
    failing.plan = () => null
    await upload.putPart(2, text('two'))
    await upload.putPart(1, text('one'))
    await upload.complete()
    expect((await store.get('k')).body.toString()).toBe('onetwo')
    expect(temps(root)).toEqual([])
  })

  it('closes no file of an upload that is given up while a part is written to it', async () => {
    const gate = Promise.withResolvers<void>()
    const order: string[] = []
    const files: Files = {
      ...systemFiles,
      writev: async (...args) => {
        await gate.promise
        order.push('written')
        return systemFiles.writev(...args)
      },
      close: (fd) => {
        order.push('closed')
        return systemFiles.close(fd)
      },
    }
    const store = new FolderStore({ path: tempFolder(), files, fsync: false })
    await store.open()
    const upload = await store.multipart('k')
    const part = upload.putPart(1, text('one'))
    const aborted = upload.abort()
    // More than the abort would need to come to its close.
    for (let i = 0; i < 20; i++) await store.head('k')
    expect(order).toEqual([])
    gate.resolve()
    await Promise.all([part, aborted])
    expect(order).toEqual(['written', 'closed'])
  })

  it('reports the keys that could not be deleted, each with its reason, and goes on with the rest (hazard E6)', async () => {
    const failing = new FailingFiles()
    const store = await open(tempFolder(), failing)
    const all = Array.from({ length: 40 }, (_, i) => `d/${i}`)
    for (const key of all) await store.put(key, text('x'))
    let left: readonly string[] = all
    for (let pass = 0; left.length > 0; pass++) {
      expect(pass).toBeLessThan(10)
      let n = 0
      failing.plan = (call) => (call === 'unlink' && n++ % 3 === 1 ? { code: 'EIO' } : null)
      const failed = await store.delete(left)
      expect(failed.length).toBeLessThan(left.length)
      for (const { error } of failed) expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
      left = failed.map(({ key }) => key)
      expect((await keys(store, 'd/')).toSorted()).toEqual(left.toSorted())
    }
  })
})

describe('folder store: around it', () => {
  it('removes temporary files of dead processes when told to, and no others', async () => {
    const root = tempFolder()
    const store = await open(root)
    const upload = await store.multipart('k')
    await upload.putPart(1, text('alive'))
    const dead = [`${process.pid}-1-0-0000-0`, '4194305-77-0-0000-0', 'no such name']
    for (const name of dead) fs.writeFileSync(path.join(root, '.tmp', name), 'x')
    const next = await open(root)
    expect(temps(root)).toHaveLength(1 + dead.length)
    await next.removeUnfinished()
    expect(temps(root)).toHaveLength(1)
    await upload.complete()
    expect((await store.get('k')).body.toString()).toBe('alive')
  })

  it('refuses a key below an object, or where a folder is', async () => {
    const store = await open(tempFolder())
    await store.put('a/b', text('x'))
    await expect(store.put('a/b/c', text('x'))).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(store.put('a', text('x'))).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(store.putIfAbsent('a', text('x'))).rejects.toMatchObject({ code: 'REFUSED' })
    expect(await store.head('a')).toBeNull()
    expect(await store.head('a/b/c')).toBeNull()
    await expect(store.get('a')).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
    await expect(store.get('a/b/c')).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
    expect(await store.delete(['a/b/c'])).toEqual([])
  })

  it('gives each write a time of its own, also while the clock stands still, since inode numbers come back', async () => {
    const failing = new FailingFiles()
    const store = new FolderStore({ path: tempFolder(), files: failing.files, clock: new QuickClock() })
    await store.open()
    for (let i = 0; i < 20; i++) await store.put('k', text('same'))
    const times = failing.calls.filter(({ call }) => call === 'setTime').map(({ args }) => args[1])
    expect(new Set(times).size).toBe(20)
    expect((await store.head('k'))!.etag).toContain(`-${(BigInt(Math.round(Number(times.at(-1)) * 1e6)) * 1000n).toString(16)}-`)
  })

  it('makes folders again that someone removed by hand', async () => {
    const root = tempFolder()
    const store = await open(root)
    await store.put('a/b/c/1', text('x'))
    fs.rmSync(path.join(root, 'a'), { recursive: true })
    await store.put('a/b/c/1', text('y'))
    expect((await store.get('a/b/c/1')).body.toString()).toBe('y')
  })

  it('names objects by plain file URIs and knows its own', async () => {
    const root = path.join(tempFolder(), 'a folder')
    const store = await open(root)
    expect(store.uri('t/x=1/a b')).toBe(`file://${root}/t/x=1/a b`)
    expect(store.keyOf(`file:${root}/t/x`)).toBe('t/x')
    expect(store.keyOf(`file://${root}er/t/x`)).toBeNull()
    expect(store.keyOf('s3://bucket/x')).toBeNull()
    expect(store.keyOf(`file://${root}/`)).toBeNull()
  })

  it('counts requests by kind and reason', async () => {
    const registry = new Registry()
    const store = new FolderStore({ path: tempFolder(), metrics: new StoreMetrics(registry) })
    await store.open()
    await store.put('a', text('x'), { reason: 'wal' })
    await store.put('b', text('x'), { reason: 'wal' })
    await store.get('a', { reason: 'fetch' })
    const metrics = await registry.metrics()
    expect(metrics).toContain('frazil_store_requests_total{kind="put",reason="wal"} 2')
    expect(metrics).toContain('frazil_store_requests_total{kind="get",reason="fetch"} 1')
  })

  it('opens by specification, and a memory store never in another thread', async () => {
    const root = tempFolder()
    const store = await openStore({ kind: 'folder', path: root, fsync: false })
    await store.put('a', text('x'))
    expect(fs.readFileSync(path.join(root, 'a'), 'utf8')).toBe('x')
    await expect(openStore({ kind: 'memory', name: 'm' })).rejects.toMatchObject({ code: 'REFUSED' })
  })
})
