import avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { FrazilError } from '../../src/base/errors.ts'
import { EMPTY_TYPING } from '../../src/schemas/typing/typing.ts'
import { resolveUnknown } from '../../src/tables/typed/resolve.ts'
import type { SchemaSource } from '../../src/schemas/source.ts'
import { frame, makeFile, objectsOf, rowsBack, sourceOf, type Made, type Row } from '../unit/tables/typed/lib.ts'

const record = (fields: readonly object[], name = 'R'): object => ({ type: 'record', name, fields })
const bytesOf = (schema: object, value: unknown): Buffer =>
  avro.Type.forSchema(schema as avro.Schema, { wrapUnions: false }).toBuffer(value)

async function same(made: Made, rows: readonly Row[]): Promise<void> {
  const back = await rowsBack(made.bytes, made.typing)
  expect(back.map((row) => row.value)).toEqual(rows.map((row) => row.value))
}

/** Names of the columns, the log's left out. */
const names = (made: Made): string[] => made.typing.fields.map((field) => field.name)

describe('G3: several versions of a schema in one file', () => {
  it('each row has what its version has, none is lost', async () => {
    const first = record([{ name: 'a', type: 'int' }])
    const second = record([
      { name: 'b', type: 'string' },
      { name: 'a', type: 'int' },
    ])
    const source = sourceOf({ 1: { schema: JSON.stringify(first) }, 2: { schema: JSON.stringify(second) } })
    const rows = [1, 2, 1, 2].map((id, i) => ({
      value: frame(id, id === 1 ? bytesOf(first, { a: i }) : bytesOf(second, { a: i, b: `b${i}` })),
    }))
    const made = await makeFile(rows, source)
    expect((await objectsOf(made)).map(({ a, b }) => [a, b])).toEqual([
      [0, null],
      [1, 'b1'],
      [2, null],
      [3, 'b3'],
    ])
    await same(made, rows)
  })
})

describe('G4: types that hold themselves, and types without fields', () => {
  it('end in bytes, and in whether they are there', async () => {
    const proto =
      'syntax = "proto3"; message Top { Node n = 1; Alive k = 2; } message Node { repeated Node c = 1; int32 v = 2; } message Alive {}'
    const source = sourceOf({ 3: { type: 'PROTOBUF', schema: proto } })
    const rows = [[0x0a, 6, 0x0a, 2, 0x10, 1, 0x10, 2, 0x12, 0], []].map((bytes) => ({ value: frame(3, Buffer.from([0, ...bytes])) }))
    const made = await makeFile(rows, source)
    expect(made.counts.exact).toBe(2)
    expect(await objectsOf(made)).toMatchObject([
      { n: { v: 2 }, k: true },
      { n: null, k: null },
    ])
    await same(made, rows)
    const alone = sourceOf({ 4: { type: 'PROTOBUF', schema: 'syntax = "proto3"; message Alive {}' } })
    const empty = [{ value: frame(4, Buffer.from([0])) }]
    await same(await makeFile(empty, alone), empty)
  })
})

describe('G5, G6: names that collide, ignoring case, are reserved or awkward', () => {
  it('follow one rule, and find their columns again', async () => {
    const json = JSON.stringify({
      type: 'object',
      properties: Object.fromEntries(
        ['Id', 'id', 'kafka_offset', '_partition', 'a.b', '`', '1st', '', '🧊', 'x'.repeat(255), 'rowkind'].map((name) => [
          name,
          { type: 'integer' },
        ]),
      ),
    })
    const text = '{"Id":1,"id":2,"kafka_offset":3,"_partition":4,"a.b":5,"`":6}'
    const rows = [{ value: frame(5, Buffer.from(text)) }]
    const made = await makeFile(rows, sourceOf({ 5: { type: 'JSON', schema: json } }))
    expect(names(made).map((name) => name.slice(0, 20))).toEqual([
      'Id',
      'id_2',
      'field_kafka_offset',
      'field_partition',
      'a_b',
      '_',
      'field_1st',
      'field_',
      '__2',
      'x'.repeat(20),
      'field_rowkind',
    ])
    expect(new Set(names(made).map((name) => name.toLowerCase())).size).toBe(names(made).length)
    expect((await objectsOf(made))[0]).toMatchObject({ Id: 1n, id_2: 2n, field_kafka_offset: 3n, field_partition: 4n, a_b: 5n })
    await same(made, rows)
  })
})

describe('G7, G13: no schema is ever guessed, an empty value is none', () => {
  it('such values stay as they are', async () => {
    const rows = ['{"a":null}', '{"a":1}', '{"a":[1]}', '"x"', ''].map((text) => ({ value: Buffer.from(text) }))
    const made = await makeFile(rows, sourceOf({}))
    expect(names(made)).toEqual([])
    await same(made, rows)
  })
})

describe('G11: a schema that is not there, and a registry that is away', () => {
  const unknown = [{ side: 'value' as const, id: 9, header: '', sample: '0000000009' }]
  it('the first is given up at once, the second is waited for', async () => {
    expect(await resolveUnknown(unknown, sourceOf({}), EMPTY_TYPING, null)).toEqual({ newcomers: [], givenUp: ['value 9'] })
    const away: SchemaSource = { ...sourceOf({}), byId: () => Promise.reject(new FrazilError('SCHEMA_REGISTRY_UNAVAILABLE', 'away')) }
    await expect(resolveUnknown(unknown, away, EMPTY_TYPING, null)).rejects.toMatchObject({ code: 'SCHEMA_REGISTRY_UNAVAILABLE' })
  })
})

describe('G12: a field changes its type', () => {
  it('what fits goes to its column, what does not to one of its own', async () => {
    const versions = ['long', 'int', 'string', 'long'].map((type) => record([{ name: 'v', type }]))
    const source = sourceOf(Object.fromEntries(versions.map((schema, i) => [i + 1, { schema: JSON.stringify(schema) }])))
    const values = [5, 6, 'seven', 8]
    const rows = versions.map((schema, i) => ({ value: frame(i + 1, bytesOf(schema, { v: values[i] })) }))
    const made = await makeFile(rows, source)
    expect(names(made)).toEqual(['v', 'v_2'])
    expect((await objectsOf(made)).map(({ v, v_2 }) => [v, v_2])).toEqual([
      [5n, null],
      [6n, null],
      [null, 'seven'],
      [8n, null],
    ])
    await same(made, rows)
  })

  it('schemas that are too large, too wide or no schemas leave values raw', async () => {
    const wide = record(Array.from({ length: 5000 }, (_, i) => ({ name: `f${i}`, type: 'int' })))
    let deep: object | string = 'int'
    for (let i = 0; i < 60; i++) deep = record([{ name: 'next', type: deep }], `D${i}`)
    const source = sourceOf({
      1: { schema: JSON.stringify(wide) },
      2: { schema: `{"type":"record","name":"X","doc":"${'x'.repeat(1 << 20)}","fields":[]}` },
      3: { schema: 'nothing' },
      4: { schema: JSON.stringify(deep) },
    })
    const rows = [1, 2, 3, 4].map((id) => ({ value: frame(id, Buffer.from([2])) }))
    const made = await makeFile(rows, source)
    expect(made.counts).toEqual({ exact: 1, raw: 0, undecodable: 3 })
    await same(made, rows)
  })
})
