// A topic with Avro values, nested and evolved while it is written: what all three formats are compared by.
import avro from 'avsc'
import { Kafka, logLevel } from 'kafkajs'

const NESTED = [
  { name: 'flag', type: 'boolean' },
  { name: 'score', type: ['null', 'double'], default: null },
]
const FIELDS = [
  { name: 'id', type: 'long' },
  { name: 'small', type: 'int' },
  { name: 'ratio', type: 'float' },
  { name: 'name', type: ['null', 'string'], default: null },
  { name: 'raw', type: 'bytes' },
  { name: 'day', type: { type: 'int', logicalType: 'date' } },
  { name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } },
  { name: 'price', type: { type: 'bytes', logicalType: 'decimal', precision: 9, scale: 2 } },
  { name: 'huge', type: ['null', { type: 'bytes', logicalType: 'decimal', precision: 30, scale: 4 }], default: null },
  { name: 'kind', type: { type: 'enum', name: 'Kind', symbols: ['A', 'B'] } },
  { name: 'tags', type: { type: 'array', items: ['null', 'string'] } },
  { name: 'counts', type: { type: 'map', values: 'long' } },
]
/** Two versions: a new column at top level, and one inside a struct. */
const SCHEMAS = [
  { type: 'record', name: 'Order', fields: [...FIELDS, { name: 'inner', type: { type: 'record', name: 'Inner', fields: NESTED } }] },
  {
    type: 'record',
    name: 'Order',
    fields: [
      ...FIELDS,
      {
        name: 'inner',
        type: { type: 'record', name: 'Inner', fields: [...NESTED, { name: 'note', type: ['null', 'string'], default: null }] },
      },
      { name: 'added', type: ['null', 'int'], default: null },
    ],
  },
]
const NONE: readonly (string | null)[][] = [[], [null], ['a', null, 'é😀']]

function order(n: number): object {
  const unscaled = Buffer.alloc(2)
  unscaled.writeInt16BE(((n * 7919) % 30_000) - 15_000)
  return {
    id: n * 1_000_003,
    small: n - 50,
    ratio: n % 11 === 0 ? -0 : n / 4,
    name: n % 5 === 0 ? null : `name ${'x'.repeat(n % 40)} ${n}`,
    raw: Buffer.from([n & 255, 0xff]),
    day: n - 1000,
    at: 1_731_508_712_229_224 + n,
    price: unscaled,
    huge: n % 3 === 0 ? null : Buffer.from('0102030405060708090a0b', 'hex'),
    kind: n % 2 === 0 ? 'A' : 'B',
    tags: NONE[n % 3],
    counts: n % 4 === 0 ? {} : { [`k${n % 3}`]: n, z: -n },
    inner: { flag: n % 2 === 1, score: n % 7 === 0 ? null : n * 0.1, note: n % 3 === 0 ? null : `note ${n}` },
    added: n % 2 === 0 ? null : n,
  }
}

/** Writes `rows` values, half under each version; after each half `flush` brings them into the table. */
export async function produceTyped(
  broker: { readonly bootstrap: string; readonly http: string },
  topic: string,
  rows: number,
  flush: () => Promise<unknown>,
): Promise<void> {
  const producer = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.ERROR }).producer()
  await producer.connect()
  for (const [version, schema] of SCHEMAS.entries()) {
    const answer = await fetch(`${broker.http}/schemas/subjects/${topic}-value/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schema: JSON.stringify(schema) }),
    })
    const { id } = (await answer.json()) as { id: number }
    const type = avro.Type.forSchema(schema as avro.Schema)
    const head = Buffer.alloc(5)
    head.writeUInt32BE(id, 1)
    const from = version * (rows / 2)
    const messages = Array.from({ length: rows / 2 }, (_, i) => ({ value: Buffer.concat([head, type.toBuffer(order(from + i))]) }))
    await producer.send({ topic, messages })
    await flush()
  }
  await producer.disconnect()
}
