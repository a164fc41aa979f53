import { describe, expect, it } from 'vitest'
import { FolderStore } from '../../src/storage/folder.ts'
import { MemoryStore } from '../../src/storage/memory.ts'
import { tempFolder } from '../unit/storage/temp.ts'
import { FailingFiles } from '../unit/storage/failingFiles.ts'

// E13: errors that named every key grew until log lines were dropped. An error of a store names one key.

const KEYS = Array.from({ length: 1000 }, (_, i) => `tables/default/${'long'.repeat(40)}/data/${i}`)

describe('E13: the size of errors', () => {
  it('does not grow with the number of keys that fail (folder)', async () => {
    const failing = new FailingFiles()
    const lines: string[] = []
    const line = (fields: object, message: string): void => void lines.push(JSON.stringify({ ...fields, message }))
    const logger = { debug: line, info: line, warn: line, error: line }
    const store = new FolderStore({ path: tempFolder(), files: failing.files, logger })
    await store.open()
    failing.plan = (call) => (call === 'unlink' || call === 'fsync' ? { code: 'EIO' } : null)
    const failed = await store.delete(KEYS)
    expect(failed).toHaveLength(1000)
    for (const { error } of failed) expect(`${String(error)} ${String(error.cause)}`.length).toBeLessThan(2000)
    for (const text of lines) expect(text.length).toBeLessThan(8192)
  })

  it('does not grow with the number of keys that fail (memory), nor with a hostile key', async () => {
    const store = new MemoryStore({ faults: (request) => (request === 'deleteKey' ? { before: 'STORE_UNAVAILABLE' } : null) })
    for (const { error } of await store.delete(KEYS)) expect(String(error).length).toBeLessThan(2000)
    const refused = await store.delete(['../'.repeat(100_000)])
    expect(String(refused[0].error).length).toBeLessThan(2000)
  })
})
