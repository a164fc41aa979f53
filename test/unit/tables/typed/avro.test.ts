import avro from 'avsc'
import { describe, expect, it } from 'vitest'
import { mergeRowFiles } from '../../../../src/tables/parquet/merge.ts'
import { frame, makeFile, objectsOf, rowsBack, sourceOf } from './lib.ts'

const FLAT = {
  type: 'record',
  name: 'Order',
  namespace: 'shop',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'n', type: 'int' },
    { name: 'ok', type: 'boolean' },
    { name: 'f', type: 'float' },
    { name: 'd', type: 'double' },
    { name: 's', type: 'string' },
    { name: 'b', type: 'bytes' },
    { name: 'o', type: ['null', 'string'] },
  ],
}

const flat = (i: number): object => ({
  id: i % 3 === 0 ? 2 ** 51 - i : -i,
  n: i * 7 - 50,
  ok: i % 2 === 0,
  f: i / 4,
  d: -i * 1.1,
  s: `größe ${i}`,
  b: Buffer.from([i & 255, 255]),
  o: i % 5 === 0 ? null : `x${i}`,
})

describe('Avro records of simple fields', () => {
  const type = avro.Type.forSchema(FLAT as avro.Schema)
  const source = sourceOf({ 7: { schema: JSON.stringify(FLAT) } })
  const rows = Array.from({ length: 500 }, (_, i) => ({ value: frame(7, type.toBuffer(flat(i))) }))

  it('become columns that foreign readers see, and the very bytes come back', async () => {
    const made = await makeFile(rows, source, { pageRows: 64 })
    expect(made.counts).toEqual({ exact: 500, raw: 0, undecodable: 0 })
    const objects = await objectsOf(made)
    expect(objects[5]).toMatchObject({ id: -5n, n: -15, ok: false, f: 1.25, s: 'größe 5', o: null, kafka_value: null, kafka_value_form: 3 })
    expect(objects[3].id).toBe(BigInt(2 ** 51 - 3))
    const back = await rowsBack(made.bytes, made.typing)
    expect(back.map((row) => row.value)).toEqual(rows.map((row) => row.value))
  })

  it('more of them than a page takes at first', async () => {
    const many = Array.from({ length: 5000 }, (_, i) => ({ value: frame(7, type.toBuffer(flat(i))) }))
    const made = await makeFile(many, source)
    expect(made.counts.exact).toBe(5000)
    expect((await rowsBack(made.bytes, made.typing)).every((row, i) => many[i].value.equals(row.value!))).toBe(true)
  })

  it('null, raw, damaged and unknown values lie between them', async () => {
    const good = rows[1].value
    const mixed = [
      { value: null },
      { value: good },
      { value: Buffer.from('plain text') },
      { value: Buffer.alloc(0) },
      { value: frame(99, Buffer.from('x')) },
      { value: good.subarray(0, good.length - 1) },
      { value: Buffer.concat([good, Buffer.from([0])]) },
      { value: frame(7, Buffer.alloc(0)) },
      { value: Buffer.from([0]) },
      { value: good },
    ]
    const made = await makeFile(mixed, source)
    expect(made.counts).toEqual({ exact: 2, raw: 1, undecodable: 3 })
    expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value)).toEqual(mixed.map((row) => row.value))
    expect((await objectsOf(made)).map((row) => row.n)).toEqual([null, -43, null, null, null, null, -43, null, null, -43])
  })

  it('merge with files of other versions of the schema', async () => {
    const nextSchema = { ...FLAT, fields: [...FLAT.fields.slice(1), { name: 'extra', type: { type: 'array', items: 'int' } }] }
    const nextType = avro.Type.forSchema(nextSchema as avro.Schema)
    const both = sourceOf({ 7: { schema: JSON.stringify(FLAT) }, 8: { schema: JSON.stringify(nextSchema) } })
    const first = await makeFile(rows.slice(0, 100), both)
    const others = Array.from({ length: 100 }, (_, i) => ({
      value: frame(8, nextType.toBuffer({ ...flat(i), extra: Array(i % 4).fill(i) })),
    }))
    const second = await makeFile(others, both, { typing: first.typing })
    const chunks: Uint8Array[] = []
    const shifted = { ...second, bytes: second.bytes }
    const input = (bytes: Buffer): { sizeBytes: number; read: (start: number, end: number) => Promise<Uint8Array> } => ({
      sizeBytes: bytes.length,
      read: async (start, end) => Uint8Array.from(bytes.subarray(start, end)),
    })
    await mergeRowFiles([input(first.bytes)], (bytes) => void chunks.push(bytes), { typing: shifted.typing, copyFromBytes: Infinity })
    const merged = Buffer.concat(chunks)
    expect((await rowsBack(merged, second.typing)).map((row) => row.value)).toEqual(rows.slice(0, 100).map((row) => row.value))
    expect((await rowsBack(second.bytes, second.typing)).map((row) => row.value)).toEqual(others.map((row) => row.value))
    const objects = await objectsOf({ ...second, bytes: merged })
    expect(objects[4]).toMatchObject({ n: -22, extra: null })
    expect((await objectsOf(second))[3]).toMatchObject({ id: null, extra: [3, 3, 3] })
  })
})

describe('Avro items without bytes', () => {
  const EMPTY = { type: 'record', name: 'Empty', fields: [] }
  const nested = (items: object | string): string =>
    JSON.stringify({ type: 'record', name: 'R', fields: [{ name: 'a', type: { type: 'array', items: { type: 'array', items } } }] })
  /** `lists` lists of `count` items; the block counts take all the bytes. */
  const value = (lists: number, count: number): Buffer => {
    const long = (n: number): Buffer => avro.Type.forSchema('long').toBuffer(n)
    const list = Buffer.concat([long(count), long(0)])
    return frame(7, Buffer.concat([long(lists), ...Array.from({ length: lists }, () => list), long(0)]))
  }

  it.each([['null'], [EMPTY]])('are decoded while they are few: %j', async (items) => {
    const rows = [{ value: value(2, 100) }, { value: value(20, 90_000) }]
    const made = await makeFile(rows, sourceOf({ 7: { schema: nested(items) } }))
    expect(made.counts.undecodable).toBe(1)
    expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value)).toEqual(rows.map((row) => row.value))
  })
})
