// J18: one failed file of a batch lost the progress of those already written. Files that stay contiguous commit.
import { afterEach, expect, it } from 'vitest'
import { FrazilError } from '../../src/base/errors.ts'
import { encode, merge } from '../../src/tables/convert/files.ts'
import { advanceUntil, bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('file 3 of 5 fails: 1 and 2 commit, the rest comes by the next try', async () => {
  let files = 0
  b = await bench({
    tables: {
      fileBytes: 1500,
      workers: 5,
      encoders: {
        encode: async (task) => {
          if (++files === 3) throw new FrazilError('STORE_UNAVAILABLE', 'the third file fails')
          return encode(task, b.store)
        },
        merge: (task) => merge(task, b.store),
        close: async () => {},
      },
    },
  })
  const topic = await b.topic('t', 1)
  for (let n = 0; n < 5; n++) await b.produce(topic, 0, [Buffer.alloc(1300, n)])
  b.tables.converter.request(topic.topic, 'convert')
  await advanceUntil(b.clock, 0, () => b.table(topic).publication === 1, 'the first publication')
  expect(b.engine.state.firstUnconverted(topic.topic, 0)).toBe(2)
  await advanceUntil(b.clock, 500, () => b.engine.state.unconvertedRecords(topic.topic) === 0, 'the second try')
  expect(files).toBe(8)
  const rows = [...b.table(topic).files()].reduce((sum, file) => sum + file.rows, 0)
  expect(rows).toBe(5)
  expect([...b.engine.state.deletions()].filter((one) => one.key.endsWith('.parquet'))).toHaveLength(2)
})
