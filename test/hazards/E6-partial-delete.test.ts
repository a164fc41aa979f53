import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import type { Logger } from '../../src/base/log.ts'
import { Deleter } from '../../src/wal/deleter.ts'
import { world } from '../unit/wal/harness.ts'

// E6: one key that could not be deleted threw away the progress of all; the same keys were deleted again and again.
// E13: the error named every key, and log lines became so long that they were dropped.

test('with three of ten deletions failing the queue shrinks with every pass, and log lines stay short', async () => {
  const w = await world()
  const lines: string[] = []
  const note = (fields: object, message: string): void => void lines.push(JSON.stringify({ ...fields, message }))
  const logger: Logger = { debug: note, info: note, warn: note, error: note }
  const keys = Array.from({ length: 1000 }, (_, i) => `tables/default/${'long'.repeat(50)}/${i}.parquet`)
  for (const key of keys) w.store.objects.set(key, Buffer.from('x'))
  await w.engine.propose({ kind: 'enqueueDeletions', items: keys.map((key) => ({ key, graceMs: 0 })) })
  const deleter = new Deleter({ store: w.store, metadata: w.engine, clock: w.clock, logger, registry: new Registry() })
  let left = keys.length
  let seed = 3
  for (let pass = 0; left > 0; pass++) {
    expect(pass).toBeLessThan(30)
    w.store.undeletable = new Set(keys.filter(() => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) >>> 16 < 0.3 * 65536))
    const done = await deleter.pass()
    const now = [...w.engine.state.deletions()].length
    expect(now).toBe(left - done)
    expect(now).toBeLessThan(left > 10 ? left * 0.6 : left + 1)
    expect(w.store.objects.size).toBe(now)
    left = now
  }
  expect(lines.length).toBeGreaterThan(0)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(8192)
})
