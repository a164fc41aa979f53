import { randomUUID } from 'node:crypto'
import avro from 'avsc'
import { afterEach, expect, it } from 'vitest'
import { FrazilError } from '../../../../src/base/errors.ts'
import type { SchemaSource } from '../../../../src/schemas/source.ts'
import { FileTableReader } from '../../../../src/tables/readback/reader.ts'
import { Typings } from '../../../../src/tables/typed/typings.ts'
import { advanceUntil, bench, until, type Bench } from '../harness.ts'
import { rowsOf } from '../records.ts'
import { frame, sourceOf } from './lib.ts'

let open: Bench | null = null
afterEach(async () => {
  await open?.end()
  open = null
})

const V1 = { type: 'record', name: 'R', fields: [{ name: 'a', type: 'int' }] }
const V2 = {
  type: 'record',
  name: 'R',
  fields: [
    { name: 'b', type: ['null', 'string'] },
    { name: 'a', type: 'int' },
  ],
}
const first = avro.Type.forSchema(V1 as avro.Schema)
const second = avro.Type.forSchema(V2 as avro.Schema, { wrapUnions: false })
const schemas = { 1: { schema: JSON.stringify(V1) }, 2: { schema: JSON.stringify(V2) } }

async function valuesOf(b: Bench, name: string): Promise<string[]> {
  const topic = b.engine.state.topicByName(name)!
  const reader = new FileTableReader({ store: b.store, typings: new Typings({ store: b.store, metadata: b.engine, uuid: randomUUID }) })
  const files = [...b.table(topic).files()]
  const lastOffset = b.engine.state.partition(topic.topic, 0)!.endOffset - 1
  const values: string[] = []
  for (let fromOffset = 0; fromOffset <= lastOffset;) {
    const { batches, nextOffset } = await reader.read({ files, partition: 0, fromOffset, lastOffset, maxBytes: 1 << 20 })
    values.push(...rowsOf(batches).map((row) => Buffer.from(row.value!).toString('hex')))
    fromOffset = nextOffset
  }
  await reader.close()
  return values
}

it('columns come with the schemas, files are merged, and rows come back when the registry has nothing any more', async () => {
  let source: SchemaSource = sourceOf(schemas)
  const b = (open = await bench({
    level: 2,
    tables: { schemas: { byId: (id) => source.byId(id), byGuid: (guid) => source.byGuid(guid), latest: async () => null } },
  }))
  const topic = await b.topic('typed')
  const sent: string[] = []
  const produce = async (values: readonly Buffer[]): Promise<void> => {
    sent.push(...values.map((value) => value.toString('hex')))
    await b.produce(topic, 0, values)
  }
  await produce([frame(1, first.toBuffer({ a: 1 })), Buffer.from('raw')])
  const before = await b.load(topic)
  expect(before.metadata['current-schema-id']).toBe(1)
  for (let i = 0; i < 6; i++) {
    await produce([frame(2, second.toBuffer({ a: i, b: i % 2 === 0 ? null : `b${i}` })), frame(9, Buffer.from([1]))])
    await b.load(topic)
  }
  source = sourceOf({})
  await produce([frame(1, first.toBuffer({ a: 7 }))])
  const { metadata } = await b.load(topic)
  expect(metadata['current-schema-id']).toBe(2)
  expect(metadata['last-column-id']).toBe(101)
  const current = metadata.schemas.find((schema) => schema['schema-id'] === 2)!
  expect(current.fields.slice(0, 2)).toEqual([
    { id: 100, name: 'a', required: false, type: 'int' },
    { id: 101, name: 'b', required: false, type: 'string' },
  ])
  expect(current.fields.at(-1)!.name).toBe('kafka_crc')
  await until(() => b.table(topic).fileCount === 1, 'the merge')
  expect(await valuesOf(b, 'typed')).toEqual(sent)
  const counted = await b.registry.metrics()
  expect(counted).toContain('frazil_typed_rows_total{topic="typed",outcome="exact"} 8')
  expect(counted).toContain('frazil_typed_rows_total{topic="typed",outcome="undecodable"} 6')
})

it('a registry that is away holds up its topic alone, and nothing of it is written raw', async () => {
  let isAway = true
  const source = sourceOf(schemas)
  const byId = (id: number): ReturnType<SchemaSource['byId']> =>
    isAway ? Promise.reject(new FrazilError('SCHEMA_REGISTRY_UNAVAILABLE', 'away')) : source.byId(id)
  const b = (open = await bench({ level: 2, tables: { schemas: { ...source, byId } } }))
  const held = await b.topic('held')
  const other = await b.topic('other')
  await b.produce(held, 0, [frame(1, first.toBuffer({ a: 1 }))])
  await b.produce(other, 0, ['text'])
  b.tables.converter.request(held.topic, 'convert')
  await b.load(other)
  expect(b.table(other).fileCount).toBe(1)
  expect(b.table(held).fileCount).toBe(0)
  isAway = false
  await advanceUntil(b.clock, 500, () => b.table(held).fileCount === 1, 'the conversion')
  expect(b.table(held).typingVersion).toBe(1)
  expect(await valuesOf(b, 'held')).toEqual([frame(1, first.toBuffer({ a: 1 })).toString('hex')])
})
