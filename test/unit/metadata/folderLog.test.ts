import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FolderLog } from '../../../src/metadata/logs/folderLog.ts'
import { FolderStore } from '../../../src/storage/folder.ts'
import { FailingFiles } from '../storage/failingFiles.ts'
import { tempFolder } from '../storage/temp.ts'
import { bytesOf, entryLogSuite } from './entryLogSuite.ts'
import { logFiles, numbers, openLog } from './folderLogHome.ts'

for (const makeAhead of [true, false]) {
  entryLogSuite(`folder log ${makeAhead ? 'with files made ahead' : 'that only appends'}`, async () => {
    const root = tempFolder()
    return { open: () => openLog(root, { makeAhead, segmentBytes: 2048 }) }
  })
}

describe('folder log: files', () => {
  it('starts a new file at the size set, and finds everything again', async () => {
    const root = tempFolder()
    let log = await openLog(root, { segmentBytes: 8192 })
    for (let number = 1; number <= 50; number++) await log.append(number, Buffer.alloc(900, number), [Buffer.alloc(number, 7)])
    await log.append(51, Buffer.alloc(50_000, 51))
    await log.append(52, Buffer.alloc(10, 52))
    await log.close()
    expect(logFiles(root).length).toBeGreaterThan(6)
    log = await openLog(root)
    expect(await numbers(log)).toEqual(Array.from({ length: 52 }, (_, i) => i + 1))
    expect((await log.readAttachment(50, 0, 50)).equals(Buffer.alloc(50, 7))).toBe(true)
    await log.close()
  })

  it('deletes whole files only, never the last, and finishes a truncation that was cut short', async () => {
    const root = tempFolder()
    let log = await openLog(root, { makeAhead: false })
    for (let number = 1; number <= 40; number++) await log.append(number, Buffer.alloc(500, number))
    const before = logFiles(root)
    const copy = fs.readFileSync(before[0])
    await log.truncate(20)
    expect(logFiles(root)[0]).not.toBe(before[0])
    await log.close()
    fs.writeFileSync(before[0], copy)
    log = await openLog(root)
    expect(logFiles(root)).not.toContain(before[0])
    expect(await numbers(log)).toEqual(Array.from({ length: 21 }, (_, i) => 20 + i))
    await log.truncate(41)
    expect(logFiles(root)).toHaveLength(1)
    await log.close()
  })

  it('reads on while the files it reads are truncated away', async () => {
    const log = await openLog(tempFolder())
    for (let number = 1; number <= 40; number++) await log.append(number, Buffer.alloc(500, number))
    const seen: number[] = []
    const reading = (async () => {
      for await (const { number, bytes } of log.read(1)) {
        expect(bytes[0]).toBe(number)
        if (seen.push(number) === 2) await log.truncate(41)
      }
    })()
    await expect(reading).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
    expect(seen).toEqual(seen.map((_, i) => i + 1))
    await log.close()
  })

  it('stops with a sentence when files are missing', async () => {
    const root = tempFolder()
    const log = await openLog(root, { makeAhead: false })
    for (let number = 1; number <= 40; number++) await log.append(number, Buffer.alloc(500, number))
    await log.writeSnapshot(40, bytesOf('state'))
    await log.close()
    const files = logFiles(root)
    for (const gone of [files.slice(0, 1), files.slice(1, 2), files.slice(-1), files]) {
      const kept = gone.map((file) => [file, fs.readFileSync(file)] as const)
      for (const file of gone) fs.rmSync(file)
      await expect(openLog(root)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
      for (const [file, bytes] of kept) fs.writeFileSync(file, bytes)
    }
    const again = await openLog(root)
    expect(await again.end()).toBe(40)
    await again.close()
  })

  it('refuses a second opener, in this process too, and lets the next one in after close', async () => {
    const root = tempFolder()
    const log = await openLog(root)
    await expect(openLog(root)).rejects.toMatchObject({ code: 'STORE_IN_USE' })
    await log.append(1, bytesOf('1'))
    await log.close()
    await (await openLog(root)).close()
  })

  it('gives the folder back when it is closed while it opens', async () => {
    const root = tempFolder()
    const store = new FolderStore({ path: root })
    await store.open()
    const log = new FolderLog({ store, podName: 'test' })
    await expect(log.read(1)[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'CLOSED' })
    const opening = log.open()
    await log.close()
    await expect(opening).rejects.toMatchObject({ code: 'CLOSED' })
    await (await openLog(root)).close()
  })
})

describe('folder log: order of calls', () => {
  it('is one write and at most one sync an append, none of either more with fsync off', async () => {
    for (const fsync of [true, false]) {
      const failing = new FailingFiles()
      const log = await openLog(tempFolder(), { files: failing.files, fsync, segmentBytes: 1 << 20, makeAhead: false })
      await log.append(1, bytesOf('1'))
      failing.calls.length = 0
      for (let number = 2; number <= 11; number++) await log.append(number, bytesOf('x'), [Buffer.alloc(5000, 1), Buffer.alloc(5000, 2)])
      const made = failing.calls.map(({ call }) => call)
      const synced = made.filter((call) => call !== 'writev')
      expect(made.filter((call) => call === 'writev')).toHaveLength(10)
      // On Linux the write itself syncs (O_DSYNC).
      expect(synced).toEqual(fsync && process.platform !== 'linux' ? Array(10).fill('fdatasync') : [])
      await log.close()
    }
  })

  it('raises the floor durably before it deletes anything (L4)', async () => {
    const failing = new FailingFiles()
    const log = await openLog(tempFolder(), { files: failing.files, fsync: true, makeAhead: false, segmentBytes: 1000 })
    for (let number = 1; number <= 10; number++) await log.append(number, Buffer.alloc(700, number))
    failing.calls.length = 0
    await log.truncate(8)
    const order = failing.calls.map(({ call, args }) => (call === 'unlink' && String(args[0]).endsWith('.log') ? 'delete' : call))
    expect(order.filter((call) => call === 'delete').length).toBeGreaterThan(3)
    expect(order.indexOf('delete')).toBeGreaterThan(order.lastIndexOf('fsync', order.indexOf('delete')))
    expect(order.lastIndexOf('fsync', order.indexOf('delete'))).toBeGreaterThan(order.indexOf('fdatasync'))
    await log.close()
  })
})
