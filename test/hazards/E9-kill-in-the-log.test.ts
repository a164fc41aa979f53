import { describe, expect, it } from 'vitest'
import { child } from '../unit/storage/child.ts'
import { tempFolder } from '../unit/storage/temp.ts'
import { collect } from '../unit/metadata/entryLogSuite.ts'
import { openLog } from '../unit/metadata/folderLogHome.ts'

// E9: what was recovered began behind the end that others knew: a hole, or a record twice. A process that appends is killed
// at any moment; whatever it acknowledged is there, each number once, and the next process goes on behind it.

const SOURCES = new URL('../../src/', import.meta.url).href

describe('E9: kill -9 while entries are appended', () => {
  for (const fsync of [true, false]) {
    it(`loses no acknowledged entry, leaves no hole and no double (fsync ${fsync})`, { timeout: 60_000 }, async () => {
      const root = tempFolder()
      let known = 0
      for (let round = 1; round <= 4; round++) {
        const writer = await child(`
          import { FolderStore } from '${SOURCES}storage/folder.ts'
          import { FolderLog } from '${SOURCES}metadata/logs/folderLog.ts'
          const store = new FolderStore({ path: ${JSON.stringify(root)}, fsync: ${fsync} })
          await store.open()
          const log = new FolderLog({ store, podName: 'killed', segmentBytes: 200_000 })
          await log.open()
          console.log('ready')
          for (let number = (await log.end()) + 1; ; number++) {
            await log.append(number, Buffer.alloc(1 + (number * 37) % 3000, number), [Buffer.alloc((number * 101) % 70_000, number + 1)])
            process.stdout.write(number + '\\n')
            if (number % 50 === 0) await log.truncate(number - 40)
          }`)
        await writer.printed(20 + round * 13)
        await writer.kill()
        const acknowledged = writer.lines().slice(1).map(Number)
        expect(acknowledged).toEqual(acknowledged.map((_, i) => acknowledged[0] + i))
        // At most one entry was written and not yet acknowledged when the process before died.
        expect(acknowledged[0] - known).toBeGreaterThanOrEqual(1)
        expect(acknowledged[0] - known).toBeLessThanOrEqual(2)
        known = acknowledged.at(-1)!
        const log = await openLog(root, { segmentBytes: 200_000 })
        const floor = await log.floor()
        const entries = await collect(log, floor)
        const end = await log.end()
        expect(end - known === 0 || end - known === 1).toBe(true)
        expect(entries.map(({ number }) => number)).toEqual(Array.from({ length: end - floor + 1 }, (_, i) => floor + i))
        for (const { number, bytes, attachmentBytes } of entries) {
          expect(Buffer.compare(bytes, Buffer.alloc(1 + ((number * 37) % 3000), number))).toBe(0)
          expect(attachmentBytes).toBe((number * 101) % 70_000)
          const attachment = await log.readAttachment(number, 0, attachmentBytes)
          expect(attachment.equals(Buffer.alloc(attachmentBytes, number + 1))).toBe(true)
        }
        await log.close()
        known = end
      }
    })
  }
})
