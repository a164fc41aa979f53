import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { FolderStore } from '../../src/storage/folder.ts'
import { MemoryStore } from '../../src/storage/memory.ts'
import type { ObjectStore } from '../../src/storage/store.ts'
import { tempFolder } from '../unit/storage/temp.ts'

// E11: a range was answered with bytes of another one. Here nothing may be mixed up between objects, versions and ranges
// while objects are replaced and read at the same time.

async function folder(): Promise<ObjectStore> {
  const store = new FolderStore({ path: tempFolder(), fsync: false })
  await store.open()
  return store
}

/** Byte `at` of version `version` of object `object`. */
function byte(object: number, version: number, at: number): number {
  return (object * 131 + version * 31 + at * 7 + (at >> 8) * 13) & 0xff
}

function content(object: number, version: number): Buffer {
  return Buffer.from(Array.from({ length: 2000 + version }, (_, at) => byte(object, version, at)))
}

describe('E11: ranged reads', () => {
  for (const [name, make] of Object.entries({ folder, memory: async () => new MemoryStore() })) {
    it(`give the bytes of that object, version and range (${name})`, async () => {
      const store = await make()
      const random = seededRandom(11)
      for (let object = 0; object < 3; object++) await store.put(`o/${object}`, content(object, 0))
      const write = async (): Promise<void> => {
        for (let version = 1; version <= 30; version++) {
          const object = Math.floor(random() * 3)
          await store.put(`o/${object}`, content(object, version))
        }
      }
      const read = async (): Promise<void> => {
        for (let i = 0; i < 150; i++) {
          const object = Math.floor(random() * 3)
          const start = Math.floor(random() * 2100)
          const end = start + Math.floor(random() * 500)
          const { body, sizeBytes } = await store.getRange(`o/${object}`, { start, end })
          expect(body.equals(content(object, sizeBytes - 2000).subarray(start, end))).toBe(true)
        }
      }
      await Promise.all([write(), read(), read(), read()])
    })
  }
})
