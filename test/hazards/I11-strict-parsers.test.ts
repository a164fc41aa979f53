// I11: strict parsers of other languages refuse `"doc":null`, decimals without the space, missing required keys, logs that
// do not end at the current snapshot.
import { afterEach, expect, it } from 'vitest'
import { bench, type Bench } from '../unit/tables/harness.ts'

let b: Bench
afterEach(() => b.end())

it('metadata has every required key of v2, no null, and is consistent in itself', async () => {
  b = await bench()
  const topic = await b.topic('t', 1)
  await b.produce(topic, 0, ['a'])
  const { metadata, text } = await b.load(topic)
  expect(text).not.toMatch(/[:[,]null/)
  for (const key of [
    'format-version',
    'table-uuid',
    'location',
    'last-sequence-number',
    'last-updated-ms',
    'last-column-id',
    'schemas',
    'current-schema-id',
    'partition-specs',
    'default-spec-id',
    'last-partition-id',
    'sort-orders',
    'default-sort-order-id',
  ]) {
    expect(metadata).toHaveProperty([key])
  }
  expect(metadata['last-partition-id']).toBe(999)
  expect(metadata['sort-orders']).toEqual([{ 'order-id': 0, fields: [] }])
  expect(metadata['partition-specs']).toEqual([{ 'spec-id': 0, fields: [] }])
  expect(metadata.refs['main']!['snapshot-id']).toBe(metadata['current-snapshot-id'])
  expect(metadata['snapshot-log'].at(-1)!['snapshot-id']).toBe(metadata['current-snapshot-id'])
  expect(metadata['last-updated-ms']).toBeGreaterThanOrEqual(metadata['snapshot-log'].at(-1)!['timestamp-ms'])
  expect(metadata.schemas[0]).not.toHaveProperty('identifier-field-ids')
  expect(Object.values(metadata.properties).every((value) => typeof value === 'string')).toBe(true)
})
