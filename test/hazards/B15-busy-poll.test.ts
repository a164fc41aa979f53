import { expect, test } from 'vitest'
import { batchAttributes, batchBaseOffset, batchOffsetCount, isControl } from '../../protocol/records/header.ts'
import { settle } from '../unit/wal/harness.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'

// B15: the longest wait of a fetch was not carried down: empty polls came back at once.

test('an idle fetch comes back when its time is over, not before', async () => {
  const w = await logWorld()
  let done = false
  const fetching = w.fetch([{ partition: 0 }], { maxWaitMs: 5000 }).then(() => (done = true))
  await settle()
  await w.clock.advance(4999)
  expect(done).toBe(false)
  await w.clock.advance(1)
  await fetching
})

test('rows deleted at the end do not make a busy poll', async () => {
  const w = await logWorld()
  await w.append(0, { count: 5 })
  await w.convert(0, (offset) => offset >= 3)
  // a control batch takes the client over them (L18) …
  const over = await w.fetch([{ partition: 0, fetchOffset: 3 }], { maxWaitMs: 5000 })
  const batch = Buffer.concat(over[0]!.records)
  expect(isControl(batchAttributes(batch))).toBe(true)
  expect(batchBaseOffset(batch) + batchOffsetCount(batch, 0)).toBe(5)
  // … to the end, where it waits
  let done = false
  const fetching = w.fetch([{ partition: 0, fetchOffset: 5 }], { maxWaitMs: 5000 }).then((all) => {
    done = true
    return all
  })
  await settle()
  await w.clock.advance(4999)
  expect(done).toBe(false)
  await w.clock.advance(1)
  expect(offsets((await fetching)[0])).toEqual([])
})
