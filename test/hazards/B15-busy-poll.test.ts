import { expect, test } from 'vitest'
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
  let done = false
  const fetching = w.fetch([{ partition: 0, fetchOffset: 3 }], { maxWaitMs: 5000 }).then((all) => {
    done = true
    return all
  })
  await settle()
  await w.clock.advance(4999)
  expect(done).toBe(false)
  await w.clock.advance(1)
  expect(offsets((await fetching)[0])).toEqual([])
})
