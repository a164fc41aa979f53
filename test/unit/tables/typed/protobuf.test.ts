import protobuf from 'protobufjs'
import { describe, expect, it } from 'vitest'
import { frame, makeFile, objectsOf, rowsBack, sourceOf } from './lib.ts'

const PROTO = `
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
message Before {}
message Order {
  int32 n = 1;
  optional int32 maybe = 2;
  repeated sint32 packed = 3;
  repeated string words = 4;
  oneof pick { string name = 5; Item item = 6; }
  map<string, int64> counts = 7;
  google.protobuf.Timestamp at = 8;
  Color color = 9;
  uint64 big = 10;
  double d = 11;
  bytes raw = 12;
  bool ok = 13;
  repeated Item items = 14;
  google.protobuf.StringValue wrapped = 15;
  Before empty = 16;
  Node tree = 17;
  fixed64 f64 = 18;
  sint64 s64 = 19;
}
message Item { string sku = 1; repeated int64 prices = 2; }
message Node { int32 v = 1; repeated Node kids = 2; }
enum Color { RED = 0; BLUE = 5; }
`

const root = new protobuf.Root()
for (const name of ['timestamp', 'wrappers']) root.addJSON(protobuf.common.get(`google/protobuf/${name}.proto`)!.nested as never)
protobuf.parse(PROTO, root, { keepCase: true })
root.resolveAll()
const Order = root.lookupType('shop.Order')
const source = sourceOf({ 9: { type: 'PROTOBUF', schema: PROTO } })
/** Message indexes [1]: count 1, index 1, zigzag. */
const framed = (payload: Uint8Array): Buffer => frame(9, Buffer.concat([Buffer.from([2, 2]), payload]))
const encode = (value: object): Buffer => framed(Order.encode(Order.fromObject(value)).finish())

const full = {
  n: -7,
  maybe: 0,
  packed: [1, -2, 300],
  words: ['a', '', 'ü'],
  item: { sku: 'x', prices: [1, 2] },
  counts: { a: 1, b: -2 },
  at: { seconds: -5, nanos: 123000000 },
  color: 5,
  big: '18446744073709551615',
  d: 1.5,
  raw: Buffer.from([0, 255]),
  ok: true,
  items: [{ sku: 'i1', prices: [] }, { sku: '', prices: [7] }, {}],
  wrapped: { value: 'w' },
  empty: {},
  tree: { v: 1, kids: [{ v: 2, kids: [{}] }, {}] },
  f64: 3,
  s64: -9,
}

describe('Protobuf messages', () => {
  it('become columns, and the very bytes come back', async () => {
    const rows = [full, {}, { name: 'n' }, { wrapped: {}, at: {}, tree: {} }, { color: 77 }, { counts: { '': 0 } }].map((value) => ({
      value: encode(value),
    }))
    const made = await makeFile([...rows, { value: null }], source)
    expect(made.counts).toEqual({ exact: 6, raw: 0, undecodable: 0 })
    expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value)).toEqual([...rows.map((row) => row.value), null])
    const objects = await objectsOf(made)
    expect(objects[0]).toMatchObject({
      n: -7,
      maybe: 0,
      packed: [1, -2, 300],
      words: ['a', '', 'ü'],
      name: null,
      item: { sku: 'x', prices: [1n, 2n] },
      color: 'BLUE',
      wrapped: 'w',
      empty: true,
      tree: { v: 1 },
      s64: -9n,
      ok: true,
    })
    expect(objects[0].at).toEqual(new Date(-5000 + 123))
    expect(objects[1]).toMatchObject({ n: 0, maybe: null, packed: [], at: null, color: 'RED', empty: null, wrapped: null, items: [] })
    expect(objects[2]).toMatchObject({ name: 'n', item: null })
    expect(objects[3]).toMatchObject({ wrapped: '', at: new Date(0) })
    expect(objects[4]).toMatchObject({ color: '77' })
  })

  it('in another order, with unknown fields or longer forms are columns with their bytes beside them', async () => {
    const odd = [
      [0x48, 5, 0x08, 1], // color before n
      [0x08, 1, 0x08, 2], // n twice
      [0x08, 0x81, 0x00], // a longer varint
      [0x08, 0], // a default that is written
      [0x18, 2, 0x18, 4], // packed numbers, not packed
      [0xf8, 0x07, 1, 0x08, 3], // an unknown field first
      [0x3a, 3, 0x0a, 1, 97], // a map entry without a value
      [0x32, 3, 0x0a, 1, 97, 0x32, 2, 0x10, 1], // a message in two parts
    ].map((bytes) => ({ value: framed(Buffer.from(bytes)) }))
    const bad = [[0x08], [0x0a, 5, 1], [0x22, 200, 1], [0x07]].map((bytes) => ({ value: framed(Buffer.from(bytes)) }))
    const made = await makeFile([...odd, ...bad], source)
    expect(made.counts).toEqual({ exact: 0, raw: 8, undecodable: 4 })
    expect((await rowsBack(made.bytes, made.typing)).map((row) => row.value)).toEqual([...odd, ...bad].map((row) => row.value))
    const objects = await objectsOf(made)
    expect(objects.map((row) => row.n)).toEqual([1, 2, 1, 0, 0, 3, 0, 0, null, null, null, null])
    expect(objects[4].packed).toEqual([1, 2])
    expect(objects[6].counts).toMatchObject({ a: 0n })
    expect(objects[7].item).toMatchObject({ sku: 'a', prices: [1n] })
  })
})
