// I14: readers fail on a table without snapshots and on files without rows. An empty topic is a table with one empty
// snapshot and no file; a range without rows makes no file either. (test/readers asks DuckDB and PyIceberg for the count.)
import { afterEach, expect, it } from 'vitest'
import { decodeManifestList } from '../../src/tables/iceberg/manifestList.ts'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import { bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('an empty topic has an empty snapshot', async () => {
  b = await bench()
  const topic = await b.topic('t', 2)
  const { metadata } = await b.load(topic)
  const snapshot = currentSnapshot(metadata)!
  expect(snapshot.summary).toMatchObject({ operation: 'append', 'total-records': '0' })
  const { body } = await b.store.get(b.store.keyOf(snapshot['manifest-list'])!)
  expect(await decodeManifestList(body)).toEqual([])
  expect(b.table(topic).fileCount).toBe(0)
})
