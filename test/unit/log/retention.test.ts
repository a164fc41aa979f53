import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/base/log.ts'
import { Retention, type RetentionRules } from '../../../src/log/retention.ts'
import { logWorld, type LogWorld } from './harness.ts'

const HOUR = 3_600_000

function retention(w: LogWorld, rules: Partial<RetentionRules>, asked: number[] = []): Retention {
  return new Retention({
    metadata: w.engine,
    clock: w.clock,
    logger: silentLogger,
    rules: () => ({ cleanupPolicy: new Set(['delete']), retentionMs: -1, retentionBytes: -1, ...rules }),
    requestConversion: (topic) => asked.push(topic),
  })
}

const startOf = (w: LogWorld): number => w.engine.state.partition(w.topic, 0)!.logStartOffset

test('extents whose newest record is too old go, from the oldest up to the first that is not', async () => {
  const w = await logWorld()
  const now = w.clock.nowMs
  for (const age of [10, 8, 1, 9]) {
    await w.append(0, { timestampsMs: [now - age * HOUR] })
    await w.convert(0)
  }
  expect(await retention(w, { retentionMs: 7 * HOUR }).pass()).toBe(1)
  expect(startOf(w)).toBe(2)
  expect(await retention(w, { retentionMs: 7 * HOUR }).pass()).toBe(0)
  await w.clock.advance(10 * HOUR)
  expect(await retention(w, { retentionMs: 7 * HOUR }).pass()).toBe(1)
  expect(startOf(w)).toBe(4)
})

test('extents over retention.bytes go while what is left is not below it', async () => {
  const w = await logWorld()
  for (let i = 0; i < 4; i++) {
    await w.append(0, { valueBytes: 1000 })
    await w.convert(0)
  }
  const each = w.engine.state.partition(w.topic, 0)!.sizeBytes / 4
  expect(await retention(w, { retentionBytes: 4 * each - 1 }).pass()).toBe(0)
  expect(await retention(w, { retentionBytes: 2 * each + 1 }).pass()).toBe(1)
  expect(startOf(w)).toBe(1)
  expect(await retention(w, { retentionBytes: 0 }).pass()).toBe(1)
  expect(startOf(w)).toBe(4)
})

test('what is due and not in the table waits for its conversion (T20)', async () => {
  const w = await logWorld()
  await w.append(0, { timestampsMs: [1] })
  const asked: number[] = []
  expect(await retention(w, { retentionMs: HOUR }, asked).pass()).toBe(0)
  expect([startOf(w), asked]).toEqual([0, [w.topic]])
  await w.convert(0)
  expect(await retention(w, { retentionMs: HOUR }, asked).pass()).toBe(1)
  expect([startOf(w), asked]).toEqual([1, [w.topic]])
})

test('records without a timestamp are as old as their commit; compacted topics keep theirs', async () => {
  const w = await logWorld()
  await w.append(0, { timestampsMs: [-1] })
  await w.convert(0)
  expect(await retention(w, { retentionMs: HOUR }).pass()).toBe(0)
  await w.clock.advance(2 * HOUR)
  expect(await retention(w, { retentionMs: HOUR, cleanupPolicy: new Set(['compact']) }).pass()).toBe(0)
  expect(await retention(w, { retentionMs: HOUR }).pass()).toBe(1)
})

test('producers that have been silent for a day are forgotten', async () => {
  const w = await logWorld()
  await w.append(0, { producerId: 5, sequence: 0 })
  await w.clock.advance(23 * HOUR)
  await w.append(0, { producerId: 6, sequence: 0 })
  await retention(w, {}).pass()
  expect(w.engine.state.producer(w.topic, 0, 5)).not.toBeNull()
  await w.clock.advance(2 * HOUR)
  await retention(w, {}).pass()
  expect([5, 6].map((id) => w.engine.state.producer(w.topic, 0, id) === null)).toEqual([true, false])
})
