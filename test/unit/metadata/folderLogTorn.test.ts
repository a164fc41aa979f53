import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import { tempFolder } from '../storage/temp.ts'
import { bytesOf, collect, randomBytes } from './entryLogSuite.ts'
import { logFiles, numbers, openLog } from './folderLogHome.ts'

describe('folder log: a write that was cut short', () => {
  const sizes = [3, 600, 64, 130, 1500, 0, 40]

  /** A log of one file with an entry of each size; returns its bytes and where each record ends. */
  async function example(root: string, random: () => number): Promise<{ file: string; bytes: Buffer; ends: number[] }> {
    const log = await openLog(root, { makeAhead: false, segmentBytes: 1 << 20 })
    const ends: number[] = []
    for (const [i, size] of sizes.entries()) {
      await log.append(i + 1, randomBytes(random, size + 1), [randomBytes(random, i * 30)])
      ends.push(fs.statSync(logFiles(root)[0]).size)
    }
    await log.close()
    const file = logFiles(root)[0]
    return { file, bytes: fs.readFileSync(file), ends }
  }

  it('is cut to the entries before it, at whatever byte the file ends', { timeout: 60_000 }, async () => {
    const root = tempFolder()
    const { file, bytes, ends } = await example(root, seededRandom(1))
    // Every length around the places where records begin and end; some of the others.
    const near = (length: number): boolean => [0, 512, ...ends].some((end) => length >= end - 3 && length <= end + 70)
    for (let length = 0; length <= bytes.length; length++) {
      if (!near(length) && length % 17 !== 0) continue
      fs.writeFileSync(file, bytes.subarray(0, length))
      const log = await openLog(root, { makeAhead: false, segmentBytes: 1 << 20 })
      const whole = ends.filter((end) => end <= length).length
      expect([length, await log.end()]).toEqual([length, whole])
      expect(await numbers(log)).toEqual(Array.from({ length: whole }, (_, i) => i + 1))
      expect(await log.append(whole + 1, bytesOf('goes on'))).toBe('written')
      await log.close()
      const again = await openLog(root)
      expect((await collect(again, whole + 1)).map((entry) => Buffer.from(entry.bytes).toString())).toEqual(['goes on'])
      await again.close()
      for (const other of logFiles(root)) fs.rmSync(other)
    }
  })

  it('is cut in a file full of zeros, whichever of its sectors came to disk', async () => {
    const root = tempFolder()
    const random = seededRandom(2)
    const log = await openLog(root, { segmentBytes: 32 * 1024, makeAhead: false })
    await log.append(1, randomBytes(random, 700), [randomBytes(random, 333)])
    const start = Math.ceil(fs.statSync(logFiles(root)[0]).size / 64) * 64
    // With blank sectors inside, which must not be taken for ones that were not written.
    const parts = [randomBytes(random, 900), Buffer.alloc(2000), randomBytes(random, 1500)]
    await log.append(2, Buffer.concat(parts), [randomBytes(random, 2100), Buffer.alloc(700), Buffer.from([1])])
    await log.close()
    const file = logFiles(root)[0]
    const whole = Buffer.alloc(32 * 1024)
    fs.readFileSync(file).copy(whole)
    const firstSector = Math.floor(start / 512)
    const lastSector = Math.floor((fs.statSync(file).size - 1) / 512)
    for (let round = 0; round < 150; round++) {
      const torn = Buffer.from(whole)
      let isTorn = false
      for (let sector = firstSector; sector <= lastSector; sector++) {
        const from = Math.max(sector * 512, start)
        const to = (sector + 1) * 512
        if (round > 0 && random() < (round % 2 === 0 ? 0.1 : 0.6)) {
          isTorn ||= torn.subarray(from, to).some((byte) => byte !== 0)
          torn.fill(0, from, to)
        }
      }
      fs.writeFileSync(file, torn)
      const again = await openLog(root)
      expect(await again.end()).toBe(isTorn ? 1 : 2)
      const next = (await again.end()) + 1
      expect(await again.append(next, bytesOf('next'))).toBe('written')
      await again.close()
      const last = await openLog(root)
      expect(await last.end()).toBe(next)
      await last.close()
      for (const other of logFiles(root).slice(1)) fs.rmSync(other)
    }
  })

  it('is told from damage: any flipped bit in an entry of full length stops the log', { timeout: 60_000 }, async () => {
    for (const zeros of [0, 8192]) {
      const root = tempFolder()
      const random = seededRandom(4)
      const { file, bytes, ends } = await example(root, random)
      const full = Buffer.concat([bytes, Buffer.alloc(zeros)])
      for (let at = 512; at < bytes.length; at++) {
        // Bytes between two records mean nothing.
        const gap = ends.some((end) => at >= end && at < Math.ceil(end / 64) * 64)
        const lastRecord = at >= ends.at(-2)!
        if (gap || random() > (lastRecord ? 0.4 : 0.03)) continue
        const damaged = Buffer.from(full)
        damaged[at] ^= 1 << Math.floor(random() * 8)
        fs.writeFileSync(file, damaged)
        await expect(openLog(root)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
        // It is left as it is, for whoever repairs it.
        expect(fs.readFileSync(file).equals(damaged)).toBe(true)
      }
      fs.writeFileSync(file, full)
      const log = await openLog(root)
      expect(await log.end()).toBe(sizes.length)
      await log.close()
    }
  })

  it('stops when a sector before the last entry is blank or its file is short', async () => {
    const root = tempFolder()
    const random = seededRandom(6)
    const log = await openLog(root, { makeAhead: false, segmentBytes: 8192 })
    for (let number = 1; number <= 20; number++) await log.append(number, randomBytes(random, 1500))
    await log.close()
    const files = logFiles(root)
    const last = files.at(-1)!
    const lastBytes = fs.readFileSync(last)
    const blank = Buffer.from(lastBytes)
    blank.fill(0, 512, 1024)
    fs.writeFileSync(last, blank)
    await expect(openLog(root)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    fs.writeFileSync(last, lastBytes)
    const first = fs.readFileSync(files[0])
    fs.writeFileSync(files[0], first.subarray(0, first.length - 1600))
    await expect(openLog(root)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    // Damage inside an entry of an older file is found when the entry is read.
    const damaged = Buffer.from(first)
    damaged[2500] ^= 1
    fs.writeFileSync(files[0], damaged)
    const again = await openLog(root)
    await expect(collect(again, 1)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    await again.close()
  })

  it('stops when a blank sector lies in an entry that others follow', async () => {
    const root = tempFolder()
    const random = seededRandom(7)
    const log = await openLog(root, { makeAhead: false, segmentBytes: 1 << 20 })
    for (let number = 1; number <= 3; number++) await log.append(number, randomBytes(random, 3000))
    await log.close()
    const file = logFiles(root)[0]
    const bytes = fs.readFileSync(file)
    // A sector of entry 2, then one of entry 3: only the last entry may have been cut short.
    fs.writeFileSync(file, Buffer.from(bytes).fill(0, 4608, 5120))
    await expect(openLog(root)).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    fs.writeFileSync(file, Buffer.from(bytes).fill(0, 8192, 8704))
    const again = await openLog(root)
    expect(await again.end()).toBe(2)
    await again.close()
  })

  it('does not take records inside of data for records of the log', async () => {
    const root = tempFolder()
    const log = await openLog(root, { makeAhead: false, segmentBytes: 1 << 20 })
    await log.append(1, randomBytes(seededRandom(1), 100))
    await log.append(2, randomBytes(seededRandom(2), 300))
    const image = fs.readFileSync(logFiles(root)[0])
    const start = Math.ceil(image.length / 64) * 64
    // The log's own file as data, so placed that headers would lie where the log looks for some.
    await log.append(3, Buffer.concat([Buffer.alloc(512 - 64, 1), image, image]))
    await log.close()
    const torn = fs.readFileSync(logFiles(root)[0])
    torn.fill(0, start, start + 64)
    fs.writeFileSync(logFiles(root)[0], torn)
    const again = await openLog(root)
    expect(await again.end()).toBe(2)
    await again.close()
  })
})
