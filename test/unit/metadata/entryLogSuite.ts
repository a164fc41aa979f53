import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import type { EntryLog, RawEntry } from '../../../src/metadata/entryLog.ts'

/** One place where a log lives: `open` opens it anew, as the next process would, after the one before was closed. */
export interface LogHome {
  open(): Promise<EntryLog>
}

/** What every log must do; `make` gives a fresh, empty home. */
export function entryLogSuite(name: string, make: () => Promise<LogHome>): void {
  describe(`${name}: entries`, () => {
    it('begins empty', async () => {
      const log = await (await make()).open()
      expect(await log.end()).toBe(0)
      expect(await log.floor()).toBe(1)
      expect(await log.snapshots()).toEqual([])
      expect(await collect(log, 1)).toEqual([])
      await log.close()
    })

    it('gives back what was appended, now and after it is opened again', async () => {
      const home = await make()
      const random = seededRandom(3)
      const wanted: Buffer[] = []
      let log = await home.open()
      for (let number = 1; number <= 60; number++) {
        const bytes = randomBytes(random, Math.floor(random() * (number % 10 === 0 ? 100_000 : 500)))
        wanted.push(bytes)
        expect(await log.append(number, bytes)).toBe('written')
        expect(await log.end()).toBe(number)
        if (number % 20 !== 0) continue
        await log.close()
        log = await home.open()
        expect(await log.end()).toBe(number)
      }
      for (const from of [1, 2, 30, 60, 61, 100]) {
        const entries = await collect(log, from)
        expect(entries.map((entry) => entry.number)).toEqual(wanted.map((_, i) => i + 1).filter((number) => number >= from))
        for (const entry of entries) expect(Buffer.compare(entry.bytes, wanted[entry.number - 1])).toBe(0)
      }
      await log.close()
    })

    it('sees in a read what is appended while it goes on', async () => {
      const log = await (await make()).open()
      await log.append(1, bytesOf('1'))
      const seen: number[] = []
      for await (const { number } of log.read(1)) {
        seen.push(number)
        if (number < 10) await log.append(number + 1, bytesOf(String(number + 1)))
      }
      // A read ends at the end as the store knows it; what is appended later, it may see or not, but in order.
      expect(seen).toEqual(Array.from({ length: seen.length }, (_, i) => i + 1))
      expect((await collect(log, 1)).at(-1)!.number).toBe(await log.end())
      await log.close()
    })

    it('answers conflict for a number that is taken, written when it is ours, and refuses a gap', async () => {
      const home = await make()
      let log = await home.open()
      await log.append(1, bytesOf('one'))
      await log.append(2, bytesOf('two'))
      for (let round = 0; round < 2; round++) {
        expect(await log.append(2, bytesOf('other'))).toBe('conflict')
        expect(await log.append(2, bytesOf('two'))).toBe('written')
        expect(await log.append(1, bytesOf('one'))).toBe('written')
        expect(await log.append(1, bytesOf(''))).toBe('conflict')
        await expect(log.append(4, bytesOf('four'))).rejects.toMatchObject({ code: 'REFUSED' })
        expect(await log.end()).toBe(2)
        await log.close()
        log = await home.open()
      }
      expect((await collect(log, 1)).map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(['one', 'two'])
      await log.close()
    })

    it('lets one of several appends of one number win', async () => {
      const log = await (await make()).open()
      for (let number = 1; number <= 5; number++) {
        const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => log.append(number, bytesOf(`${number} by ${i}`))))
        expect(answers.filter((answer) => answer === 'written')).toHaveLength(1)
        expect(Buffer.from((await collect(log, number))[0].bytes).toString()).toBe(`${number} by ${answers.indexOf('written')}`)
      }
      await log.close()
    })

    it('refuses everything once closed', async () => {
      const log = await (await make()).open()
      await log.append(1, bytesOf('1'))
      await log.close()
      await log.close()
      await expect(log.append(2, bytesOf('2'))).rejects.toMatchObject({ code: 'CLOSED' })
      await expect(log.end()).rejects.toMatchObject({ code: 'CLOSED' })
      await expect(collect(log, 1)).rejects.toMatchObject({ code: 'CLOSED' })
      await expect(log.truncate(1)).rejects.toMatchObject({ code: 'CLOSED' })
      await expect(log.open()).rejects.toMatchObject({ code: 'REFUSED' })
    })
  })

  describe(`${name}: attachments`, () => {
    it('carries as much as it says, and no more', async () => {
      const home = await make()
      let log = await home.open()
      const max = log.attachmentMaxBytes
      await expect(log.append(1, bytesOf('1'), [Buffer.alloc(max), Buffer.alloc(1)])).rejects.toMatchObject({ code: 'LIMIT' })
      expect(await log.end()).toBe(0)
      const wanted = randomBytes(seededRandom(5), max)
      expect(await log.append(1, bytesOf('1'), [wanted.subarray(0, max / 2), wanted.subarray(max / 2)])).toBe('written')
      expect(await log.append(2, bytesOf('2'))).toBe('written')
      for (let round = 0; round < 2; round++) {
        expect((await collect(log, 1)).map(({ attachmentBytes }) => attachmentBytes)).toEqual([max, 0])
        for (const [start, end] of max === 0
          ? []
          : [
              [0, max],
              [0, 0],
              [max - 3, max],
              [1000, 5000],
            ]) {
          expect((await log.readAttachment(1, start, end)).equals(wanted.subarray(start, end))).toBe(true)
        }
        await expect(log.readAttachment(3, 0, 1)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
        await expect(log.readAttachment(2, 0, 1)).rejects.toMatchObject({ name: 'FrazilError' })
        await log.close()
        log = await home.open()
      }
      await log.close()
    })
  })

  describe(`${name}: floor and snapshots`, () => {
    it('keeps the two newest snapshots and refuses one ahead of the log', async () => {
      const home = await make()
      let log = await home.open()
      for (let number = 1; number <= 9; number++) await log.append(number, bytesOf(String(number)))
      for (const last of [2, 4, 8]) await log.writeSnapshot(last, bytesOf(`state at ${last}`))
      await expect(log.writeSnapshot(10, bytesOf('x'))).rejects.toMatchObject({ code: 'REFUSED' })
      expect(await log.snapshots()).toEqual([8, 4, 2])
      await log.truncate(5)
      for (let round = 0; round < 2; round++) {
        expect(await log.snapshots()).toEqual([8, 4])
        expect((await log.readSnapshot(8)).toString()).toBe('state at 8')
        await expect(log.readSnapshot(2)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
        await log.close()
        log = await home.open()
      }
      await log.close()
    })

    it('never lets a number below the floor be used, read or lowered again', async () => {
      const home = await make()
      let log = await home.open()
      for (let number = 1; number <= 40; number++) await log.append(number, Buffer.alloc(200, number))
      const before = log.sizeBytes()
      await log.truncate(25)
      await log.truncate(10)
      for (let round = 0; round < 2; round++) {
        expect(await log.floor()).toBe(25)
        expect(await log.end()).toBe(40)
        expect(log.sizeBytes()).toBeLessThan(before)
        expect(await log.append(24, Buffer.alloc(200, 24))).toBe('conflict')
        expect(await log.append(1, bytesOf('new'))).toBe('conflict')
        await expect(collect(log, 24)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
        await expect(log.readAttachment(24, 0, 0)).rejects.toMatchObject({ code: 'STORE_NOT_FOUND' })
        expect((await collect(log, 25)).map(({ number, bytes }) => bytes[0] === number)).toEqual(Array(16).fill(true))
        await log.close()
        log = await home.open()
      }
      expect(await log.append(41, bytesOf('41'))).toBe('written')
      await expect(log.truncate(43)).rejects.toMatchObject({ code: 'REFUSED' })
      await log.truncate(42)
      await log.close()
      log = await home.open()
      expect([await log.floor(), await log.end()]).toEqual([42, 41])
      expect(await log.append(41, bytesOf('41'))).toBe('conflict')
      expect(await log.append(42, bytesOf('42'))).toBe('written')
      expect(await collect(log, 42)).toHaveLength(1)
      await log.close()
    })
  })
}

export function bytesOf(text: string): Buffer {
  return Buffer.from(text)
}

export function randomBytes(random: () => number, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes)
  for (let i = 0; i < sizeBytes; i++) bytes[i] = Math.floor(random() * 256)
  return bytes
}

export async function collect(log: EntryLog, from: number): Promise<RawEntry[]> {
  const entries: RawEntry[] = []
  for await (const entry of log.read(from)) entries.push(entry)
  return entries
}
