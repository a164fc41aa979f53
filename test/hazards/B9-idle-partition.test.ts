import { expect, test } from 'vitest'
import { createTopic } from '../unit/metadata/helpers.ts'
import { batchBytes, walBatch } from '../unit/wal/harness.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'

// B9: single partitions stopped silently while the consumer was healthy: idle for long, then written to, and never served.

test('50 partitions, 49 idle for ten minutes: what is then written to any of them is served by the poll that waits', async () => {
  const w = await logWorld()
  const topic = await createTopic(w.engine, 'wide', 50)
  const positions = Array.from({ length: 50 }, () => 0)
  const poll = (): ReturnType<typeof w.fetch> =>
    w.fetch(
      positions.map((fetchOffset, partition) => ({ topic, partition, fetchOffset })),
      { maxWaitMs: 500 },
    )
  const produce = (partition: number): Promise<unknown> => w.plog.append([{ topic, partition, batch: walBatch({}, batchBytes()) }])
  const take = (fetched: Awaited<ReturnType<typeof poll>>): void => fetched.forEach((one, p) => (positions[p] += offsets(one).length))
  for (let i = 0; i < 1200; i++) {
    const polling = poll()
    if (i % 100 === 0) await produce(0)
    else await w.clock.advance(500)
    take(await polling)
  }
  for (let partition = 0; partition < 50; partition += 7) {
    const polling = poll()
    await produce(partition)
    const fetched = await polling
    expect(offsets(fetched[partition]).length).toBe(1)
    take(fetched)
  }
})
