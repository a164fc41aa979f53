import { expect, test } from 'vitest'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { settle } from '../unit/wal/harness.ts'
import { logWorld, offsets } from '../unit/log/harness.ts'

// E1: with the store paused, uploads that ran side by side were given one base offset.

test.each([0, 1 << 20])(
  'two producers through a pause of the store: offsets rise, nothing overlaps (inline up to %i)',
  async (inlineMaxBytes) => {
    const log = new MemoryLog()
    const w = await logWorld({ log, inlineMaxBytes, maxBytes: 500 })
    let resume = (): void => {}
    const paused = new Promise<void>((resolve) => (resume = resolve))
    w.store.before = (request) => (request === 'put' ? paused : undefined)
    if (inlineMaxBytes > 0) log.beforeAppend = () => paused
    const bases: number[] = []
    const producer = async (producerId: number): Promise<void> => {
      for (let round = 0; round < 10; round++) {
        const five = [0, 1, 2, 3, 4].map((i) => w.append(0, { count: 3, producerId, sequence: (round * 5 + i) * 3, valueBytes: 60 }))
        bases.push(...(await Promise.all(five)))
      }
    }
    const producers = [producer(1), producer(2)]
    await settle()
    await w.clock.advance(20_000)
    resume()
    await Promise.all(producers)
    expect(bases.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i * 3))
    const [all] = await w.fetch([{ partition: 0 }])
    expect(offsets(all)).toEqual(Array.from({ length: 300 }, (_, i) => i))
  },
)
