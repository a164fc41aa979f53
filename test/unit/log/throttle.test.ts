import { expect, test } from 'vitest'
import { Throttle } from '../../../src/log/throttle.ts'
import type { StateView } from '../../../src/metadata/view.ts'
import { ManualClock, settle } from '../wal/harness.ts'

function made(): { throttle: Throttle; clock: ManualClock; backlog: { bytes: number }; seconds: number[] } {
  const clock = new ManualClock()
  const backlog = { bytes: 0 }
  const state = { topics: () => [{ topic: 1 }, { topic: 2 }], unconvertedBytes: () => backlog.bytes / 2 } as unknown as StateView
  const seconds: number[] = []
  return { clock, backlog, seconds, throttle: new Throttle({ state, clock, limitBytes: 1000, observe: (s) => seconds.push(s) }) }
}

test('below the limit nothing waits', async () => {
  const { throttle, backlog, seconds } = made()
  backlog.bytes = 1000
  expect(await throttle.pass(async () => 'x')).toEqual({ value: 'x', throttleMs: 0 })
  expect(seconds).toEqual([])
})

test('over it the delay grows, is told, and appends keep their order', async () => {
  const { throttle, clock, backlog, seconds } = made()
  backlog.bytes = 1125
  const order: number[] = []
  const run = (i: number): Promise<{ throttleMs: number }> => throttle.pass(async () => order.push(i))
  const first = run(1)
  await clock.advance(100)
  backlog.bytes = 0 // the second would not have to wait by itself
  const second = run(2)
  await clock.advance(399)
  expect(order).toEqual([])
  await clock.advance(1)
  expect([(await first).throttleMs, (await second).throttleMs]).toEqual([500, 400])
  expect(order).toEqual([1, 2])
  expect(seconds).toEqual([0.5, 0.4])
  expect((await run(3)).throttleMs).toBe(0)
})

test('far over it appends are held until conversion has caught up, but not for ever', async () => {
  const { throttle, clock, backlog } = made()
  backlog.bytes = 5000
  let passed = 0
  void throttle.pass(async () => passed++)
  for (let i = 0; i < 50; i++) await clock.advance(100)
  expect(passed).toBe(0)
  backlog.bytes = 1200
  await clock.advance(100)
  await settle()
  expect(passed).toBe(1)
  backlog.bytes = 5000
  await clock.advance(100)
  void throttle.pass(async () => passed++)
  for (let i = 0; i < 101; i++) await clock.advance(100)
  expect(passed).toBe(2)
})
