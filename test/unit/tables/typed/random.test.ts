import avsc from 'avsc'
import protobuf from 'protobufjs'
import { expect, it } from 'vitest'
import { frame, makeFile, objectsOf, rowsBack, sourceOf } from './lib.ts'

/** Schemas and values drawn by a seed: columns hold what the languages' own libraries read, and the very bytes come back. */

interface Draw {
  readonly schema: unknown
  readonly value: () => unknown
}

type Random = (below: number) => number

function randomOf(start: number): Random {
  let seed = start
  return (below) => {
    seed = (seed * 48271) % 2147483647
    return Math.floor((seed / 2147483647) * below)
  }
}

const TEXTS = ['', 'a', 'größe', '漢字 "q"', 'back\\slash', 'line\nend', 'x'.repeat(300), 'plain words of some length', '\u0001', '😀']
const DOUBLES = [0, -0, 1, -1, 0.1, 0.5, 12.25, -99.99, 1e-5, 1e21, 5e-324, 123456789.1234, 1e15, 0.30000000000000004, 1e11 + 0.5, 4.35]
const LONGS = [0, 1, -1, 63, 64, -64, -65, 2 ** 31, -(2 ** 31) - 1, 2 ** 32, 999_999_999, 1e9, 1e15, 2 ** 52 + 1, -(2 ** 52)]

const textOf = (random: Random): string => TEXTS[random(TEXTS.length)]
const doubleOf = (random: Random): number =>
  random(2) === 0 ? DOUBLES[random(DOUBLES.length)] : (random(2_000_000) - 1_000_000) / 10 ** random(6)
const longOf = (random: Random): number => (random(2) === 0 ? LONGS[random(LONGS.length)] : random(2 ** 31) - 2 ** 30)
/** Years 1 to 9999, and many of this century. */
const millisOf = (random: Random): number => (random(4) === 0 ? random(1e9) * 315_000 - 62_000_000_000_000 : 1.7e12 + random(1e12))

let names = 0

function avroOf(random: Random, depth: number): Draw {
  const kind = random(depth > 2 ? 9 : 12)
  const scalar = (schema: unknown, value: () => unknown): Draw => ({ schema, value })
  if (kind === 0) return scalar('boolean', () => random(2) === 1)
  if (kind === 1) return scalar('int', () => (random(2) === 0 ? random(200) - 100 : random(2 ** 31) - 2 ** 30))
  if (kind === 2) return scalar('long', () => longOf(random))
  if (kind === 3) return scalar('double', () => doubleOf(random))
  if (kind === 4) return scalar('string', () => textOf(random))
  if (kind === 5) return scalar('bytes', () => Buffer.from(textOf(random)))
  if (kind === 6) {
    const symbols = Array.from({ length: 1 + random(40) }, (_, i) => `S${i}`)
    return scalar({ type: 'enum', name: `E${names++}`, symbols }, () => symbols[random(symbols.length)])
  }
  if (kind === 7) return scalar('float', () => Math.fround(doubleOf(random)))
  if (kind === 8) {
    const inner = avroOf(random, 3)
    if (Array.isArray(inner.schema)) return inner
    const schema = random(2) === 0 ? ['null', inner.schema] : [inner.schema, 'null']
    return { schema, value: () => (random(2) === 0 ? null : inner.value()) }
  }
  if (kind === 9) {
    const inner = avroOf(random, depth + 1)
    return { schema: { type: 'array', items: inner.schema }, value: () => Array.from({ length: random(4) }, () => inner.value()) }
  }
  return avroRecord(random, depth + 1)
}

function avroRecord(random: Random, depth: number): Draw {
  const fields = Array.from({ length: 1 + random(depth === 0 ? 12 : 4) }, () => avroOf(random, depth))
  return {
    schema: { type: 'record', name: `R${names++}`, fields: fields.map(({ schema }, i) => ({ name: `f${i}`, type: schema })) },
    value: () => Object.fromEntries(fields.map(({ value }, i) => [`f${i}`, value()])),
  }
}

/** Values of two libraries in one form. */
function plain(value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Date) return value.getTime()
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
  return value
}

const columnsOf = (row: Record<string, unknown>): unknown =>
  plain(Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('kafka_'))))

/** Bytes of which some are changed, cut off or added: what the schema does not describe must come back all the same. */
function damaged(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  const at = 5 + random(Math.max(1, copy.length - 5))
  if (random(3) === 0) return copy.subarray(0, Math.max(5, at))
  if (random(2) === 0) return Buffer.concat([copy, Buffer.from([random(256)])])
  if (at < copy.length) copy[at] = random(256)
  return copy
}

const SEEDS = Array.from({ length: 12 }, (_, i) => [1000 + i * 77])

it.each(SEEDS)('Avro, seed %i', async (seed) => {
  const random = randomOf(seed)
  const { schema, value } = avroRecord(random, 0)
  const type = avsc.Type.forSchema(schema as never, { wrapUnions: false })
  const values = Array.from({ length: 60 }, value)
  const whole = values.map((one) => frame(1, type.toBuffer(one)))
  const source = sourceOf({ 1: { schema: JSON.stringify(schema) } })
  const made = await makeFile(
    whole.map((bytes) => ({ value: bytes })),
    source,
  )
  expect(made.counts).toEqual({ exact: 60, raw: 0, undecodable: 0 })
  expect((await objectsOf(made)).map(columnsOf)).toEqual(whole.map((bytes) => plain(type.fromBuffer(bytes.subarray(5)))))
  const rows = [...whole, ...whole.map((bytes) => damaged(bytes, random))].map((bytes) => ({ value: bytes }))
  const all = await makeFile(rows, source)
  expect((await rowsBack(all.bytes, all.typing)).map((row) => row.value)).toEqual(rows.map((row) => row.value))
})

const PROTO_TYPES = ['int32', 'sint32', 'uint32', 'int64', 'sint64', 'uint64', 'fixed64', 'sfixed32', 'bool', 'double', 'string', 'bytes']

function protoValue(type: string, random: Random): unknown {
  if (type === 'bool') return random(2) === 1
  if (type === 'double') return doubleOf(random)
  if (type === 'string') return textOf(random)
  if (type === 'bytes') return Buffer.from(textOf(random))
  if (type === 'Kind') return [0, 1, 7, 99][random(4)]
  if (type === 'Sub') return random(3) === 0 ? {} : { a: random(300), b: textOf(random) }
  if (type === 'google.protobuf.Timestamp') {
    const millis = millisOf(random)
    return { seconds: Math.floor(millis / 1000), nanos: random(1_000_000) * 1000 }
  }
  if (type.endsWith('32')) return type.startsWith('u') ? random(2 ** 31) : random(2 ** 31) - 2 ** 30
  return type === 'uint64' || type === 'fixed64' ? Math.abs(longOf(random)) : longOf(random)
}

it.each(SEEDS)('Protobuf, seed %i', async (seed) => {
  const random = randomOf(seed)
  const types = Array.from({ length: 1 + random(14) }, () => {
    const type = [...PROTO_TYPES, 'Kind', 'Sub', 'google.protobuf.Timestamp'][random(15)]
    const label = ['', 'optional ', 'repeated '][random(3)]
    return { type, label }
  })
  const proto = `syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Main { ${types.map(({ type, label }, i) => `${label}${type} f${i} = ${i * 3 + 1};`).join('\n')} }
message Sub { int32 a = 1; string b = 2; }
enum Kind { NONE = 0; ONE = 1; SEVEN = 7; }`
  const root = new protobuf.Root()
  root.addJSON(protobuf.common.get('google/protobuf/timestamp.proto')!.nested as never)
  protobuf.parse(proto, root, { keepCase: true })
  root.resolveAll()
  const Main = root.lookupType('Main')
  const whole = Array.from({ length: 60 }, () => {
    const value: Record<string, unknown> = {}
    types.forEach(({ type, label }, i) => {
      if (label === 'repeated ') value[`f${i}`] = Array.from({ length: random(4) }, () => protoValue(type, random))
      else if (random(3) > 0) value[`f${i}`] = protoValue(type, random)
    })
    return frame(2, Buffer.concat([Buffer.from([0]), Main.encode(Main.fromObject(value)).finish()]))
  })
  const source = sourceOf({ 2: { type: 'PROTOBUF', schema: proto } })
  const rows = [...whole, ...whole.map((bytes) => damaged(bytes, random))].map((bytes) => ({ value: bytes }))
  const made = await makeFile(rows, source)
  expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value)).toEqual(rows.map((row) => row.value))
  // Values that are written though they are the default are the only ones that the library makes and columns do not give back.
  expect(made.counts.exact).toBeGreaterThan(0)
  const objects = await objectsOf(made)
  whole.forEach((bytes, row) => {
    const read = Main.toObject(Main.decode(bytes.subarray(6)), { longs: Number, defaults: true }) as Record<string, unknown>
    types.forEach(({ type, label }, i) => {
      if (label !== '' || !['int32', 'sint64', 'sfixed32', 'bool', 'double', 'string', 'int64'].includes(type)) return
      expect(plain(objects[row][`f${i}`])).toEqual(read[`f${i}`])
    })
  })
})

function jsonOf(random: Random, depth: number): Draw {
  const kind = random(depth > 2 ? 6 : 8)
  if (kind === 0) return { schema: { type: 'integer' }, value: () => longOf(random) }
  if (kind === 1) return { schema: { type: 'number' }, value: () => doubleOf(random) }
  if (kind === 2) return { schema: { type: 'string' }, value: () => textOf(random) }
  if (kind === 3) return { schema: { type: ['boolean', 'null'] }, value: () => [true, false, null][random(3)] }
  if (kind === 4) {
    const print = (): string => new Date(millisOf(random)).toISOString().replace('.000Z', 'Z')
    return { schema: { type: 'string', format: 'date-time' }, value: () => (random(8) === 0 ? '2024-01-01T00:00:00+02:00' : print()) }
  }
  if (kind === 5) {
    const days = [
      '2024-02-29',
      '2023-02-29',
      '0001-01-01',
      '9999-12-31',
      '1970-01-01',
      '1969-12-31',
      '1900-03-01',
      '2000-02-29',
      '2024-13-01',
    ]
    return { schema: { type: 'string', format: 'date' }, value: () => days[random(days.length)] }
  }
  if (kind === 6) {
    const inner = jsonOf(random, depth + 1)
    return { schema: { type: 'array', items: inner.schema }, value: () => Array.from({ length: random(4) }, () => inner.value()) }
  }
  return jsonObject(random, depth + 1)
}

function jsonObject(random: Random, depth: number): Draw {
  const fields = Array.from({ length: 1 + random(depth === 0 ? 10 : 3) }, () => jsonOf(random, depth))
  return {
    schema: { title: `T${names++}`, type: 'object', properties: Object.fromEntries(fields.map(({ schema }, i) => [`f${i}`, schema])) },
    value: () => Object.fromEntries(fields.map(({ value }, i) => [`f${i}`, value()])),
  }
}

it.each(SEEDS)('JSON, seed %i', async (seed) => {
  const random = randomOf(seed)
  const { schema, value } = jsonObject(random, 0)
  const values = Array.from({ length: 60 }, value)
  const whole = values.map((one, i) => frame(3, Buffer.from(i === 7 ? JSON.stringify(one, null, 1) : JSON.stringify(one))))
  const source = sourceOf({ 3: { type: 'JSON', schema: JSON.stringify(schema) } })
  const rows = [...whole, ...whole.map((bytes) => damaged(bytes, random))].map((bytes) => ({ value: bytes }))
  const made = await makeFile(rows, source)
  expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value)).toEqual(rows.map((row) => row.value))
  expect(made.counts.exact).toBeGreaterThan(0)
  const objects = await objectsOf(made)
  const properties = (schema as { properties: Record<string, { type: unknown; format?: string }> }).properties
  values.forEach((one, row) => {
    for (const [name, { type, format }] of Object.entries(properties)) {
      if (format !== undefined || (type !== 'integer' && type !== 'number' && type !== 'string')) continue
      expect([String(whole[row].subarray(5)), plain(objects[row][name])]).toEqual([
        String(whole[row].subarray(5)),
        JSON.parse(JSON.stringify((one as Record<string, unknown>)[name])),
      ])
    }
  })
})
