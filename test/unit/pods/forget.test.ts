import { afterEach, expect, it } from 'vitest'
import { SUPPORTED_LEVEL } from '../../../src/metadata/apply/pods.ts'
import { Forget } from '../../../src/pods/forget.ts'
import { open } from '../metadata/helpers.ts'
import { MemoryDisk, MemoryLog } from '../metadata/memoryLog.ts'
import { ManualClock } from '../wal/harness.ts'
import { Cluster, until } from './cluster.ts'

let cluster: Cluster | null = null
afterEach(async () => {
  await cluster?.close()
  cluster = null
})

it('what one process has seen fenced for long enough leaves the state, on its turn and not before level 3', async () => {
  const disk = new MemoryDisk()
  const start = (level = SUPPORTED_LEVEL) => open(new MemoryLog(disk), { level })
  const old = await start(2)
  await start(2)
  const metadata = await start(2)
  expect([...metadata.state.fencedIncarnations()]).toEqual([1, 2])
  const clock = new ManualClock()
  const forget = new Forget({ metadata, clock, afterMs: 1000 })
  expect(await forget.pass(true)).toBe(0)
  clock.nowMs += 1000
  expect(await forget.pass(true)).toBe(0)
  await old.close()
  const newer = await start()
  const next = new Forget({ metadata: newer, clock, afterMs: 1000 })
  expect(await next.pass(true)).toBe(0)
  clock.nowMs += 999
  expect(await next.pass(true)).toBe(0)
  clock.nowMs += 1
  expect(await next.pass(false)).toBe(0)
  expect(await next.pass(true)).toBe(3)
  expect([...newer.state.fencedIncarnations()]).toEqual([])
  expect([1, 2, 3, 4].map((incarnation) => newer.state.isGone(incarnation))).toEqual([true, true, true, false])
  await newer.close()
})

it('pods that come and go leave nothing behind, and a paused one that wakes up finds itself gone', async () => {
  const made = (cluster = new Cluster())
  const a = await made.start('pod-a')
  const b = await made.start('pod-b')
  const { incarnation } = b.metadata
  await b.pods.drain()
  await b.pods.leave()
  const again = await made.start('pod-b')
  await until(() => [...a.metadata.state.fencedIncarnations()].includes(incarnation), 'the fence')
  await until(() => a.metadata.state.incarnation(incarnation) === null, 'forgetting')
  expect(again.metadata.nodeId).toBe(1)
  expect(a.metadata.state.isGone(again.metadata.incarnation)).toBe(false)
  const nobody = { kind: 'allocateProducerIds', count: 1 } as const
  await expect(b.metadata.propose(nobody)).rejects.toThrow('')
})
