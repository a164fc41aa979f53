// F6: users want to know of each row where it comes from, and of each snapshot which offsets it brought.
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('rows carry partition, offset, timestamp and its type; the summary has the same ranges', async () => {
  b = await bench()
  const topic = await b.topic('t', 3)
  await b.produce(topic, 0, ['a', 'b', 'c'])
  await b.produce(topic, 2, ['d'])
  const { summary } = currentSnapshot((await b.load(topic)).metadata)!
  const seen = new Map<number, number[]>()
  for (const { key } of b.table(topic).files()) {
    const file = await asyncBufferFromFile(fileURLToPath(b.store.uri(key)))
    for (const row of await parquetReadObjects({ file, compressors })) {
      const partition = Number(row['kafka_partition'])
      seen.set(partition, [...(seen.get(partition) ?? []), Number(row['kafka_offset'])])
      expect([row['kafka_timestamp'] instanceof Date, row['kafka_timestamp_type']]).toEqual([true, 0])
    }
  }
  const ranges = Object.fromEntries(
    [...seen].map(([partition, offsets]) => [`frazil.offsets.${partition}`, `${Math.min(...offsets)}-${Math.max(...offsets)}`]),
  )
  expect(Object.fromEntries(Object.entries(summary).filter(([key]) => key.startsWith('frazil.offsets')))).toEqual(ranges)
  expect(ranges).toEqual({ 'frazil.offsets.0': '0-2', 'frazil.offsets.2': '0-0' })
})
