import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { FrazilError } from '../../../src/base/errors.ts'
import { seededRandom } from '../../../src/base/random.ts'
import type { FolderLog } from '../../../src/metadata/logs/folderLog.ts'
import { FailingFiles } from '../storage/failingFiles.ts'
import { smallDisk } from '../storage/smallDisk.ts'
import { tempFolder } from '../storage/temp.ts'
import { bytesOf, collect, randomBytes } from './entryLogSuite.ts'
import { numbers, openLog } from './folderLogHome.ts'

describe('folder log: failing calls', () => {
  for (const { call, code, expected } of [
    { call: 'writev', code: 'ENOSPC', expected: 'STORE_FULL' },
    { call: 'writev', code: 'EDQUOT', expected: 'STORE_FULL' },
    { call: 'writev', code: 'EIO', expected: 'LOG_REFUSED' },
  ] as const) {
    for (const [shape, failure] of Object.entries({
      before: { code },
      partly: { code, afterBytes: 100 },
      after: { code, afterEffect: true },
    })) {
      it(`${call} with ${code} (${shape}) is ${expected}: the entry is not there, the next one is`, async () => {
        const root = tempFolder()
        const failing = new FailingFiles()
        let log = await openLog(root, { files: failing.files, makeAhead: false, fsync: true })
        const random = seededRandom(1)
        for (let number = 1; number <= 5; number++) {
          await log.append(number, randomBytes(random, 300))
          let first = true
          // A write that took some bytes is followed by one for the rest, which fails.
          failing.plan = (made) => {
            if (made !== call) return null
            const now = first ? failure : { code }
            first = false
            return now
          }
          await expect(log.append(number + 1, randomBytes(random, 900))).rejects.toMatchObject({ code: expected })
          failing.plan = () => null
          expect(await log.end()).toBe(number)
          expect(await numbers(log)).toHaveLength(number)
        }
        await log.close()
        log = await openLog(root)
        expect(await log.end()).toBe(5)
        expect(failing.abused).toEqual([])
        await log.close()
      })
    }
  }

  it('acknowledges nothing while the disk fails, and loses nothing once it works again', async () => {
    const root = tempFolder()
    const failing = new FailingFiles()
    const random = seededRandom(9)
    let log = await openLog(root, { files: failing.files, fsync: true, segmentBytes: 3000 })
    const kept: Buffer[] = []
    let attempts = 0
    while (kept.length < 60) {
      expect(attempts++).toBeLessThan(2000)
      failing.plan = () => {
        const draw = random()
        return draw < 0.04 ? { code: draw < 0.01 ? 'ENOSPC' : 'EIO', afterEffect: draw < 0.02 } : null
      }
      const bytes = randomBytes(random, Math.floor(random() * 800))
      const answer = await log.append(kept.length + 1, bytes).catch((error: FrazilError) => error.code)
      expect(['written', 'STORE_FULL', 'LOG_REFUSED', 'LOG_UNAVAILABLE']).toContain(answer)
      if (answer === 'written') kept.push(bytes)
      failing.plan = () => null
      expect(await log.end()).toBe(kept.length)
      if (attempts % 15 !== 0) continue
      await log.close()
      log = await openLog(root, { files: failing.files, fsync: true, segmentBytes: 3000 })
      // An entry whose outcome was unknown to the process before may be there: it was tried last.
      const found = await collect(log, 1)
      expect(found.length - kept.length === 0 || found.length - kept.length === 1).toBe(true)
      if (found.length > kept.length) kept.push(Buffer.from(found.at(-1)!.bytes))
    }
    await log.close()
    log = await openLog(root)
    const found = await collect(log, 1)
    expect(found.map(({ bytes }, i) => Buffer.compare(bytes, kept[i]))).toEqual(Array(kept.length).fill(0))
    expect(failing.abused).toEqual([])
    await log.close()
  })

  it('never puts an entry into the old file once the new one may have its name', async () => {
    const root = tempFolder()
    const failing = new FailingFiles()
    let log = await openLog(root, { files: failing.files, fsync: true, makeAhead: false, segmentBytes: 2000 })
    await log.append(1, Buffer.alloc(1200, 1))
    failing.plan = (call, args) => (call === 'rename' && String(args[1]).endsWith('2.log') ? { code: 'EIO', afterEffect: true } : null)
    await expect(log.append(2, Buffer.alloc(1200, 2))).rejects.toMatchObject({ code: 'LOG_REFUSED' })
    failing.plan = () => null
    expect(await log.append(2, bytesOf('fits into the old file'))).toBe('written')
    await log.close()
    log = await openLog(root)
    expect((await collect(log, 2)).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['fits into the old file'])
    await log.close()
  })

  it('is full, says so, and goes on when space returns', async () => {
    const disk = smallDisk(4 << 20)
    const ballast = path.join(disk.folder, 'ballast')
    fs.writeFileSync(ballast, Buffer.alloc(1 << 20, 1))
    const open = (): Promise<FolderLog> => openLog(disk.folder, { files: disk.files, segmentBytes: 512 * 1024, fsync: true })
    let log = await open()
    let number = 0
    const fill = async (): Promise<unknown> => {
      for (let i = 0; i < 1000; i++) {
        const failure = await log.append(number + 1, Buffer.alloc(20_000, number), [Buffer.alloc(10_000, 1)]).then(
          () => null,
          (error: unknown) => error,
        )
        if (failure !== null) return failure
        number++
      }
      return null
    }
    for (let round = 0; round < 2; round++) {
      expect(await fill()).toMatchObject({ code: 'STORE_FULL' })
      expect(await fill()).toMatchObject({ code: 'STORE_FULL' })
      expect(await log.end()).toBe(number)
      await log.close()
      log = await open()
      expect(await numbers(log)).toEqual(Array.from({ length: number }, (_, i) => i + 1))
    }
    const before = number
    expect(before).toBeGreaterThan(50)
    fs.rmSync(ballast)
    expect(await fill()).toMatchObject({ code: 'STORE_FULL' })
    expect(number).toBeGreaterThan(before + 10)
    await log.close()
    log = await open()
    expect(await numbers(log)).toHaveLength(number)
    await log.close()
  })
})
