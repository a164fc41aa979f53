import avsc from 'avsc'
import { afterEach, expect, it } from 'vitest'
import { HEADER_NAMES } from '../../../../src/schemas/typing/framing.ts'
import { bench, type Bench } from '../harness.ts'
import { frame, makeFile, objectsOf, rowsBack, sourceOf, type Made, type Row } from './lib.ts'

let open: Bench | null = null
afterEach(async () => {
  await open?.end()
  open = null
})

const record = (name: string, ...fields: object[]): object => ({ type: 'record', name, fields })
const KEY = record('K', { name: 'id', type: 'long' })
const ORDER = record('shop.Order', { name: 'id', type: 'long' }, { name: 'note', type: 'string' })
const REFUND = record('shop.Refund', { name: 'id', type: 'long' }, { name: 'cents', type: 'int' })
const bytesOf = (schema: object, value: object): Buffer => avsc.Type.forSchema(schema as avsc.Schema).toBuffer(value)

/** All rows come back as they went in; then the file's rows as hyparquet reads them. */
async function same(rows: readonly Row[], made: Made): Promise<Record<string, unknown>[]> {
  const plain = rows.map(({ key = null, value }) => ({ key, value }))
  expect(await rowsBack(made.bytes, made.typing)).toEqual(plain)
  return objectsOf(made)
}

it('keys have columns of their own, and keys that are no such keep their bytes', async () => {
  const source = sourceOf({ 1: { schema: JSON.stringify(KEY) }, 2: { schema: JSON.stringify(ORDER) } })
  const value = frame(2, bytesOf(ORDER, { id: 7, note: 'n' }))
  const rows: Row[] = [
    { key: frame(1, bytesOf(KEY, { id: 5 })), value },
    { key: Buffer.from('text'), value },
    { key: null, value },
    { key: frame(1, bytesOf(KEY, { id: -1 })), value: null },
    { key: frame(1, Buffer.from([0x80])), value },
  ]
  const made = await makeFile(rows, source, { keys: true })
  const [keyColumn] = made.typing.keyColumns
  const { name } = made.typing.fields.find((field) => field.id === keyColumn)!
  const objects = await same(rows, made)
  // Key and value both have a field `id`: two columns.
  expect(objects.map((row) => [row['id'], row['note'], row[name] ?? null])).toEqual([
    [7n, 'n', { id: 5n }],
    [7n, 'n', null],
    [7n, 'n', null],
    [null, null, { id: -1n }],
    [7n, 'n', null],
  ])
  expect(made.counts).toEqual({ exact: 4, raw: 0, undecodable: 0 })
  const without = await makeFile(rows, source)
  expect(without.typing.keyColumns).toEqual([])
  await same(rows, without)
})

const GUID = '01234567-89ab-4cde-8f01-23456789abcd'
function header(name: string, guid: string): Buffer {
  const id = Buffer.concat([Buffer.from([1]), Buffer.from(guid.replaceAll('-', ''), 'hex')])
  return Buffer.concat([Buffer.from([2, name.length * 2]), Buffer.from(name), Buffer.from([id.length * 2]), id])
}

it('schemas that record headers name', async () => {
  const source = sourceOf({ 1: { guid: GUID, schema: JSON.stringify(ORDER) } })
  const value = bytesOf(ORDER, { id: 1, note: 'by header' })
  const named = header(HEADER_NAMES.value, GUID)
  const rows: Row[] = [
    { value, headers: named },
    { value },
    { value, headers: header('other', GUID) },
    { value, headers: header(HEADER_NAMES.value, GUID.replace('0', '9')) },
    { value: Buffer.from([0x80]), headers: named },
    { value, headers: named },
    { value: frame(1, value) },
  ]
  const made = await makeFile(rows, source)
  const objects = await same(rows, made)
  expect(objects.map((row) => row['note'] ?? null)).toEqual(['by header', null, null, null, null, 'by header', 'by header'])
  expect(made.counts).toEqual({ exact: 3, raw: 0, undecodable: 2 })
})

it('several record types at once are a struct each; one that comes later leaves the first at top level', async () => {
  const source = sourceOf({ 1: { schema: JSON.stringify(ORDER) }, 2: { schema: JSON.stringify(REFUND) } })
  const order = { value: frame(1, bytesOf(ORDER, { id: 1, note: 'o' })) }
  const refund = { value: frame(2, bytesOf(REFUND, { id: 2, cents: 99 })) }
  const rows = [order, refund, { value: Buffer.from('raw') }, order]
  const together = await makeFile(rows, source)
  const objects = await same(rows, together)
  expect(objects.map((row) => [row['event_type'] ?? null, row['Order'] ?? null, row['Refund'] ?? null])).toEqual([
    ['shop.Order', { id: 1n, note: 'o' }, null],
    ['shop.Refund', null, { id: 2n, cents: 99 }],
    [null, null, null],
    ['shop.Order', { id: 1n, note: 'o' }, null],
  ])
  const first = await makeFile([order], source)
  const later = await makeFile(rows, source, { typing: first.typing })
  const laterObjects = await same(rows, later)
  expect(laterObjects.map((row) => [row['event_type'] ?? null, row['note'] ?? null, row['Refund'] ?? null])).toEqual([
    ['shop.Order', 'o', null],
    ['shop.Refund', null, { id: 2n, cents: 99 }],
    [null, null, null],
    ['shop.Order', 'o', null],
  ])
  // Files of before are read with the typing that has grown.
  expect(await rowsBack(first.bytes, later.typing)).toEqual([{ key: null, value: order.value }])
})

const SETTING = JSON.stringify({ type: 'object', properties: { a: { type: 'integer' }, b: { type: 'string' } } })

it('a JSON Schema that the topic gives: texts without framing', async () => {
  const rows = ['{"a":1,"b":"x"}', '{"b":"y"}', 'no json', '{"a":"z"}', '', '{"a": 2, "b": "p"}', '{"a":3,"c":1}'].map((text) => ({
    value: Buffer.from(text),
  }))
  const made = await makeFile([...rows, { value: null }], sourceOf({}), { setting: SETTING })
  const objects = await same([...rows, { value: null }], made)
  expect(objects.map((row) => [row['a'] ?? null, row['b'] ?? null])).toEqual([
    [1n, 'x'],
    [null, 'y'],
    [null, null],
    [null, null],
    [null, null],
    [2n, 'p'],
    [3n, null],
    [null, null],
  ])
  expect(made.counts).toEqual({ exact: 3, raw: 1, undecodable: 3 })
})

it('table.value.schema=json:… makes columns of a topic that knows no registry', async () => {
  const b = (open = await bench({ level: 2 }))
  const topic = await b.topic('settings', 1, { 'table.value.schema': `json:${SETTING}` })
  await b.produce(topic, 0, ['{"a":1,"b":"x"}', 'other'])
  const { metadata } = await b.load(topic)
  const current = metadata.schemas.find((schema) => schema['schema-id'] === metadata['current-schema-id'])!
  expect(current.fields.slice(0, 2).map(({ name, type }) => [name, type])).toEqual([
    ['a', 'long'],
    ['b', 'string'],
  ])
  expect(await b.registry.metrics()).toContain('frazil_typed_rows_total{topic="settings",outcome="exact"} 1')
})
