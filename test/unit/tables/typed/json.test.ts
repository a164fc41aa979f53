import { describe, expect, it } from 'vitest'
import { frame, makeFile, objectsOf, rowsBack, sourceOf } from './lib.ts'

const SCHEMA = JSON.stringify({
  title: 'Order',
  type: 'object',
  properties: {
    id: { type: 'integer' },
    price: { type: 'number' },
    name: { type: 'string' },
    at: { type: 'string', format: 'date-time' },
    day: { type: 'string', format: 'date' },
    ok: { type: ['boolean', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    sub: { $ref: '#/definitions/Sub' },
    free: {},
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
  },
  definitions: {
    Sub: { type: 'object', properties: { x: { type: 'integer' }, list: { type: 'array', items: { $ref: '#/definitions/Leaf' } } } },
    Leaf: { type: 'object', properties: { y: { type: 'number' } } },
  },
})
const source = sourceOf({ 4: { type: 'JSON', schema: SCHEMA } })
const full = {
  id: 12,
  price: 1.25,
  name: 'größe "q" \\ \n',
  at: '2024-01-01T00:00:00.123Z',
  day: '2024-02-29',
  ok: true,
  tags: ['a', 'b'],
  sub: { x: 1, list: [{ y: 1.5 }, {}] },
  free: { any: [1, null, { z: 'ü' }] },
  counts: { a: 1, 'b"': -2 },
}

describe('JSON texts', () => {
  it('become columns, and the very bytes come back', async () => {
    const texts = [full, { ...full, ok: null }, { id: 1 }, {}, { sub: {} }, { tags: [], counts: {} }].map((value) => JSON.stringify(value))
    const rows = texts.map((text) => ({ value: frame(4, Buffer.from(text)) }))
    const made = await makeFile(rows, source)
    expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value!.toString())).toEqual(rows.map((row) => row.value.toString()))
    expect(made.counts).toEqual({ exact: 6, raw: 0, undecodable: 0 })
    const objects = await objectsOf(made)
    expect(objects[0]).toMatchObject({
      id: 12n,
      price: 1.25,
      name: full.name,
      ok: true,
      tags: ['a', 'b'],
      free: '{"any":[1,null,{"z":"ü"}]}',
    })
    expect(objects[0].sub).toMatchObject({ x: 1n, list: [{ y: 1.5 }, { y: null }] })
    expect(objects[0].at).toEqual(new Date('2024-01-01T00:00:00.123Z'))
    expect(objects[2]).toMatchObject({ id: 1n, name: null })
  })

  it('as Python lays them out, and in other ways', async () => {
    const python = [
      '{"id": 5, "price": 2.0, "name": "gr\\u00f6\\u00dfe", "tags": ["a", "b"]}',
      '{"id": 6, "price": 1e-07, "name": "x", "tags": []}',
    ]
    const odd = [
      '{ "id": 5 }',
      '{"id":5,"other":1}',
      '{"id":1.0}',
      '{"name":"\\u0041"}',
      '{"at":"2024-01-01T00:00:00.123+05:30"}',
      '{"id":5}\n',
    ]
    const bad = ['{"id":5', '{"id":"x"}', '', '[]', '{"id":5,"id":6}', '{"id":5}x']
    const rows = [...python, ...odd, ...bad].map((text) => ({ value: frame(4, Buffer.from(text)) }))
    const made = await makeFile(rows, source)
    expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value!.toString())).toEqual(rows.map((row) => row.value.toString()))
    expect(made.counts).toEqual({ exact: 2, raw: 6, undecodable: 6 })
    const objects = await objectsOf(made)
    expect(objects.map((row) => row.id)).toEqual([5n, 6n, 5n, 5n, 1n, null, null, 5n, null, null, null, null, null, null])
    expect(objects[6].at).toEqual(new Date('2023-12-31T18:30:00.123Z'))
  })

  it('without a registry, by a schema that the topic gives', async () => {
    const rows = ['{"id":1,"name":"a"}', '{"name":"b","id":2}', 'no json', '"x"'].map((text) => ({ value: Buffer.from(text) }))
    const made = await makeFile(rows, source, { setting: SCHEMA })
    expect(made.counts).toEqual({ exact: 2, raw: 0, undecodable: 2 })
    expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value!.toString())).toEqual(rows.map((row) => row.value.toString()))
  })
})
