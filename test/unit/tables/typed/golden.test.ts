import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { gunzipSync, gzipSync } from 'node:zlib'
import avro from 'avsc'
import { expect, it } from 'vitest'
import { parseTyping, printTyping } from '../../../../src/schemas/typing/typing.ts'
import { frame, makeFile, rowsBack, sourceOf, type Row } from './lib.ts'

const folder = new URL('../../../fixtures/tables/typed/', import.meta.url)

const AVRO = {
  type: 'record',
  name: 'A',
  fields: [
    { name: 'i', type: 'long' },
    { name: 's', type: ['null', 'string'] },
    {
      name: 'u',
      type: ['string', 'int', { type: 'record', name: 'B', fields: [{ name: 'x', type: { type: 'array', items: 'double' } }] }],
    },
    { name: 'm', type: { type: 'map', values: 'bytes' } },
    { name: 'd', type: { type: 'bytes', logicalType: 'decimal', precision: 20, scale: 3 } },
    { name: 't', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'e', type: { type: 'enum', name: 'E', symbols: ['P', 'Q'] } },
  ],
}
const PROTO =
  'syntax = "proto3"; message M { int32 n = 1; repeated string w = 2; map<string, uint64> c = 3; oneof o { bool b = 4; M inner = 5; } optional double d = 6; }'
const JSON_SCHEMA =
  '{"type":"object","title":"J","properties":{"a":{"type":"integer"},"b":{"type":"array","items":{"type":"string"}},"c":{"type":"number"}}}'

function rows(): Row[] {
  const type = avro.Type.forSchema(AVRO as avro.Schema, { wrapUnions: true })
  const value = (i: number): object => ({
    i: i * 1_000_000_007,
    s: i % 2 === 0 ? null : { string: `s${i}` },
    u: i % 3 === 0 ? { string: 'x' } : i % 3 === 1 ? { int: i } : { B: { x: [i, -0.5] } },
    m: { a: Buffer.from([i]), b: Buffer.alloc(0) },
    d: Buffer.from([0, 200 - i]),
    t: 1_700_000_000_000 + i,
    e: i % 2 === 0 ? 'P' : 'Q',
  })
  const out: Row[] = []
  for (let i = 0; i < 9; i++) {
    out.push({ value: frame(1, type.toBuffer(value(i))) })
    out.push({ value: frame(2, Buffer.from([0, 0x08, i + 1, 0x12, 1, 97, 0x1a, 5, 0x0a, 1, 98, 0x10, i, 0x2a, 2, 0x08, 5])) })
    out.push({ value: frame(3, Buffer.from(`{"a":${i},"b":["x","y${i}"],"c":${i + 0.5}}`)) })
  }
  return [...out, { value: null }, { value: Buffer.from('raw') }]
}

/**
 * T2: what was written once comes back for ever. The file, its typing and the values are frozen; no schema registry is
 * asked, and a codec that would give other bytes has to be a new version with recipes of its own.
 */
it('rows of the first recipes come back byte for byte', async () => {
  const file = new URL('v1.parquet.gz', folder)
  const typing = new URL('v1.typing.json', folder)
  if (!existsSync(file) && process.env.FRAZIL_WRITE_GOLDEN === '1') {
    const source = sourceOf({
      1: { schema: JSON.stringify(AVRO) },
      2: { type: 'PROTOBUF', schema: PROTO },
      3: { type: 'JSON', schema: JSON_SCHEMA },
    })
    const made = await makeFile(rows(), source)
    writeFileSync(file, gzipSync(made.bytes))
    writeFileSync(typing, `${printTyping(made.typing)}\n`)
  }
  const back = await rowsBack(gunzipSync(readFileSync(file)), parseTyping(readFileSync(typing, 'utf8')))
  expect(back.map((row) => row.value)).toEqual(rows().map((row) => row.value))
})

it('and come back from a file that another engine wrote (T14)', async () => {
  const bytes = gunzipSync(readFileSync(new URL('v1.parquet.gz', folder)))
  // Who wrote it is all that tells: read by the path of other writers, whose columns are taken apart anew.
  const at = bytes.lastIndexOf('frazil version')
  bytes.write('foreign', at)
  const back = await rowsBack(bytes, parseTyping(readFileSync(new URL('v1.typing.json', folder), 'utf8')))
  expect(back.map((row) => row.value)).toEqual(rows().map((row) => row.value))
})
