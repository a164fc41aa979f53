import avsc from 'avsc'
import protobuf from 'protobufjs'
import { BatchBuilder } from '../protocol/records/build.ts'
import { growTyping } from '../src/schemas/typing/grow.ts'
import { EMPTY_TYPING, type Typing } from '../src/schemas/typing/typing.ts'
import type { ResolvedSchema, SchemaSource } from '../src/schemas/source.ts'
import { RowFileEncoder } from '../src/tables/parquet/encoder.ts'
import { indexFile, openGroup } from '../src/tables/parquet/fileIndex.ts'
import { BATCH_BYTES, batchesOf } from '../src/tables/readback/batches.ts'
import { resolveUnknown } from '../src/tables/typed/resolve.ts'

/**
 * Values of ten fields into typed columns of a table file, and back to the very bytes: rows and MiB of values per CPU second.
 * `node bench/typed.ts [--rows 400000] [--text-bytes 40] [--rounds 3] [--only Avro]`
 */
const option = (name: string, fallback: string): string => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : process.argv[at + 1]
}
const ROWS = Number(option('rows', '400000'))
const TEXT_BYTES = Number(option('text-bytes', '40'))
const ROUNDS = Number(option('rounds', '3'))
const ONLY = option('only', '')
const UNIQUE_ROWS = 100_000
const PRODUCED_BATCH_BYTES = 1024 * 1024
const MIB_BYTES = 1024 * 1024

const WORDS = ['alpha', 'beta', 'gamma', 'delta', 'user', 'click', 'order', 'item', 'price', 'hello', 'stream', 'table']
const KINDS = ['CLICK', 'ORDER', 'REFUND', 'VISIT']
const COUNTRIES = ['DE', 'FR', 'US', 'JP', 'BR']

/** CPU time of this process, all threads: a busy machine does not change what a core can do. */
const cpuSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

let seed = 1
const random = (): number => (seed = (seed * 48271) % 2147483647) / 2147483647
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]

function text(): string {
  let out = ''
  while (out.length < TEXT_BYTES) out += `${pick(WORDS)}${Math.floor(random() * 100)} `
  return out.slice(0, TEXT_BYTES)
}

function event(i: number): Record<string, unknown> & { at: number; kind: string; coupon: string | null } {
  return {
    id: 1_000_000_000_000 + i,
    user: `user-${Math.floor(random() * 1e6)}`,
    at: 1_790_000_000_000 + i * 7,
    price: Math.round(random() * 100_000) / 100,
    quantity: 1 + Math.floor(random() * 9),
    paid: random() < 0.5,
    kind: pick(KINDS),
    country: pick(COUNTRIES),
    coupon: random() < 0.3 ? text().slice(0, 8) : null,
    text: text(),
  }
}

const AVRO = {
  type: 'record',
  name: 'Event',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'user', type: 'string' },
    { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
    { name: 'price', type: 'double' },
    { name: 'quantity', type: 'int' },
    { name: 'paid', type: 'boolean' },
    { name: 'kind', type: { type: 'enum', name: 'Kind', symbols: KINDS } },
    { name: 'country', type: 'string' },
    { name: 'coupon', type: ['null', 'string'], default: null },
    { name: 'text', type: 'string' },
  ],
}
const PROTO = `
syntax = "proto3";
import "google/protobuf/timestamp.proto";
message Event {
  int64 id = 1;
  string user = 2;
  google.protobuf.Timestamp at = 3;
  double price = 4;
  int32 quantity = 5;
  bool paid = 6;
  Kind kind = 7;
  string country = 8;
  optional string coupon = 9;
  string text = 10;
}
enum Kind { ${KINDS.map((kind, i) => `${kind} = ${i};`).join(' ')} }
`
const JSON_SCHEMA = {
  title: 'Event',
  type: 'object',
  properties: {
    id: { type: 'integer' },
    user: { type: 'string' },
    at: { type: 'string', format: 'date-time' },
    price: { type: 'number' },
    quantity: { type: 'integer' },
    paid: { type: 'boolean' },
    kind: { enum: KINDS },
    country: { type: 'string' },
    coupon: { type: ['string', 'null'] },
    text: { type: 'string' },
  },
}

function protoEncoder(): (i: number) => Uint8Array {
  const root = new protobuf.Root()
  root.addJSON(protobuf.common.get('google/protobuf/timestamp.proto')!.nested as never)
  protobuf.parse(PROTO, root, { keepCase: true })
  root.resolveAll()
  const type = root.lookupType('Event')
  return (i) => {
    const { at, coupon, kind, ...rest } = event(i)
    const value = { ...rest, at: { seconds: Math.floor(at / 1000), nanos: (at % 1000) * 1_000_000 }, kind: KINDS.indexOf(kind) }
    return type.encode(type.fromObject(coupon === null ? value : { ...value, coupon })).finish()
  }
}

function avroEncoder(): (i: number) => Uint8Array {
  const type = avsc.Type.forSchema(AVRO as never)
  return (i) => type.toBuffer(event(i))
}

interface Language {
  readonly schema: Pick<ResolvedSchema, 'type' | 'schema'>
  /** What stands between the prefix and the payload. */
  readonly indexes: readonly number[]
  readonly encode: (i: number) => Uint8Array
}

const LANGUAGES: Readonly<Record<string, Language>> = {
  Avro: { schema: { type: 'AVRO', schema: JSON.stringify(AVRO) }, indexes: [], encode: avroEncoder() },
  Protobuf: { schema: { type: 'PROTOBUF', schema: PROTO }, indexes: [0], encode: protoEncoder() },
  JSON: {
    schema: { type: 'JSON', schema: JSON.stringify(JSON_SCHEMA) },
    indexes: [],
    encode: (i) => Buffer.from(JSON.stringify({ ...event(i), at: new Date(event(i).at).toISOString() })),
  },
}

interface Produced {
  readonly batches: readonly Uint8Array[]
  readonly rows: number
  readonly valueBytes: number
}

function produce({ encode, indexes }: Language): Produced {
  const builder = new BatchBuilder()
  const batches: Uint8Array[] = []
  const rows = Math.min(ROWS, UNIQUE_ROWS)
  const head = Buffer.from([0, 0, 0, 0, 1, ...indexes])
  let valueBytes = 0
  for (let i = 0; i < rows; i++) {
    const value = Buffer.concat([head, encode(i)])
    valueBytes += value.length
    builder.append(i, 1_790_000_000_000 + i, null, -1, -1, value, 0, value.length)
    if (builder.sizeBytes >= PRODUCED_BATCH_BYTES || i === rows - 1) batches.push(builder.finish())
  }
  return { batches, rows, valueBytes }
}

/** The typing that a conversion comes to: schemas that turn up are asked for, then the file is made again. */
async function learn(input: Produced, source: SchemaSource): Promise<Typing> {
  let typing = EMPTY_TYPING
  for (;;) {
    const encoder = new RowFileEncoder({ typed: { typing, keys: false, values: true, givenUp: new Set() } })
    encoder.addBatches(0, 0, input.batches[0])
    if (encoder.unknown.length === 0) return typing
    const { newcomers } = await resolveUnknown(encoder.unknown, source, typing, null)
    const { typing: grown, refused } = growTyping(typing, newcomers)
    if (refused.length > 0) throw refused[0].reason
    typing = grown
  }
}

function toFile(input: Produced, typing: Typing): { seconds: number; file: Buffer; rows: number; exact: number } {
  const begun = cpuSeconds()
  const parts: Uint8Array[] = []
  const encoder = new RowFileEncoder({
    typed: { typing, keys: false, values: true, givenUp: new Set() },
    sink: (bytes) => parts.push(bytes),
  })
  let offset = 0
  while (offset < ROWS) for (const bytes of input.batches) offset = encoder.addBatches(0, offset, bytes).nextOffset
  const { exact } = encoder.counts!
  encoder.finish()
  return { seconds: cpuSeconds() - begun, file: Buffer.concat(parts), rows: offset, exact }
}

async function toRecords(file: Buffer, typing: Typing): Promise<number> {
  const begun = cpuSeconds()
  const index = indexFile(file)
  for (const group of index.groups) {
    const bytes = new Uint8Array(file.buffer, file.byteOffset + group.start, group.end - group.start)
    const source = await openGroup(group, index.footer, bytes, index.userLeaves, typing.fields)
    batchesOf(source, BATCH_BYTES, typing)
  }
  return cpuSeconds() - begun
}

for (const [name, language] of Object.entries(LANGUAGES)) {
  if (ONLY !== '' && ONLY !== name) continue
  const input = produce(language)
  const schema: ResolvedSchema = { id: 1, guid: '', references: [], ...language.schema }
  const typing = await learn(input, { byId: async () => schema, byGuid: async () => null, latest: async () => null })
  const valueBytes = input.valueBytes / input.rows
  const report = (what: string, rows: number, seconds: number): string =>
    `${what} ${Math.round(rows / seconds).toLocaleString('en')} rows/s, ${((rows * valueBytes) / MIB_BYTES / seconds).toFixed(0)} MiB/s`
  let into = Infinity
  let back = Infinity
  let rows = 0
  let exact = 0
  for (let round = 0; round < ROUNDS; round++) {
    const made = toFile(input, typing)
    ;({ rows, exact } = made)
    into = Math.min(into, made.seconds)
    back = Math.min(back, await toRecords(made.file, typing))
  }
  const share = ((exact / rows) * 100).toFixed(1)
  console.log(`${name} ${valueBytes.toFixed(0)} B, ${share} % exact: ${report('into', rows, into)}; ${report('back', rows, back)}`)
}
