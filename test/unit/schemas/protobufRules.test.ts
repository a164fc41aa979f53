// What Protobuf readers can do with older bytes (protobuf.dev, "Updating A Message Type"), and what the registry's docs add.
import { describe, expect, it } from 'vitest'
import { protobufLanguage } from '../../../src/schemas/languages/protobuf/protobufSchema.ts'

const P = (body: string, head = 'package p;'): string => `syntax = "proto3"; ${head} ${body}`
const M = (fields: string): string => P(`message M { ${fields} }`)
const two = (body: string): string => `syntax = "proto2"; package p; message M { ${body} }`

/** [what, writer, reader, kinds of problems]. */
const cases: readonly (readonly [string, string, string, ...string[]])[] = [
  ['the same', M('int32 a = 1;'), M('int32 a = 1;')],
  ['a field comes', M('int32 a = 1;'), M('int32 a = 1; string b = 2;')],
  ['a field goes', M('int32 a = 1; string b = 2;'), M('int32 a = 1;')],
  ['a field has another name', M('int32 a = 1;'), M('int32 b = 1;')],
  ['fields in another order', M('int32 a = 1; int32 b = 2;'), M('int32 b = 2; int32 a = 1;')],
  ...['int64', 'uint32', 'uint64', 'bool'].map((t) => [`int32 to ${t}`, M('int32 a = 1;'), M(`${t} a = 1;`)] as const),
  ['sint32 to sint64', M('sint32 a = 1;'), M('sint64 a = 1;')],
  ['fixed32 to sfixed32', M('fixed32 a = 1;'), M('sfixed32 a = 1;')],
  ['fixed64 to sfixed64', M('fixed64 a = 1;'), M('sfixed64 a = 1;')],
  ['string to bytes', M('string a = 1;'), M('bytes a = 1;')],
  ['bytes to string', M('bytes a = 1;'), M('string a = 1;')],
  ['enum to int32', M('E a = 1; enum E { Z = 0; }'), M('int32 a = 1; enum E { Z = 0; }')],
  ['int64 to enum', M('int64 a = 1; enum E { Z = 0; }'), M('E a = 1; enum E { Z = 0; }')],
  ['int32 to sint32', M('int32 a = 1;'), M('sint32 a = 1;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['int32 to fixed32', M('int32 a = 1;'), M('fixed32 a = 1;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['fixed32 to fixed64', M('fixed32 a = 1;'), M('fixed64 a = 1;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['float to double', M('float a = 1;'), M('double a = 1;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['int32 to string', M('int32 a = 1;'), M('string a = 1;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['int32 to message', M('int32 a = 1; message N {}'), M('N a = 1; message N {}'), 'FIELD_KIND_CHANGED'],
  ['message to int32', M('N a = 1; message N {}'), M('int32 a = 1; message N {}'), 'FIELD_KIND_CHANGED'],
  ['another message', M('N a = 1; message N {} message O {}'), M('O a = 1; message N {} message O {}'), 'FIELD_NAMED_TYPE_CHANGED'],
  ['map to message', M('map<string, int32> a = 1; message N {}'), M('repeated N a = 1; message N {}'), 'FIELD_KIND_CHANGED'],
  ['a map’s value', M('map<string, int32> a = 1;'), M('map<string, int64> a = 1;')],
  ['a map’s value, wrong', M('map<string, int32> a = 1;'), M('map<string, string> a = 1;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['a map’s key, wrong', M('map<string, int32> a = 1;'), M('map<int32, int32> a = 1;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['string to repeated', M('string a = 1;'), M('repeated string a = 1;')],
  ['number to repeated', M('int32 a = 1;'), M('repeated int32 a = 1;'), 'FIELD_NUMERIC_LABEL_CHANGED'],
  ['optional comes', M('int32 a = 1;'), M('optional int32 a = 1;')],
  ['a message comes', M(''), `${M('')} message N {}`],
  ['a message goes', `${M('')} message N {}`, M(''), 'MESSAGE_REMOVED'],
  ['a nested message goes', M('message N {}'), M(''), 'MESSAGE_REMOVED'],
  ['messages in another order', P('message A {} message B {}'), P('message B {} message A {}')],
  ['an enum comes and goes', P('message A {} enum E { Z = 0; }'), P('message A {} enum F { Y = 0; }')],
  ['a value of an enum goes', P('message A {} enum E { Z = 0; ONE = 1; }'), P('message A {} enum E { Z = 0; }')],
  ['another package', P('message A {}'), P('message A {}', 'package q;'), 'PACKAGE_CHANGED'],
  [
    'a nested message changes',
    M('N n = 1; message N { int32 a = 1; }'),
    M('N n = 1; message N { string a = 1; }'),
    'FIELD_SCALAR_KIND_CHANGED',
  ],
  ['recursive', M('M m = 1; int32 a = 2;'), M('M m = 1; int64 a = 2;')],
  ['recursive, wrong', M('M m = 1; int32 a = 2;'), M('M m = 1; string a = 2;'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['one field moves to a new oneof', M('int32 a = 1;'), M('oneof o { int32 a = 1; string b = 2; }')],
  [
    'two fields move to a oneof',
    M('int32 a = 1; string b = 2;'),
    M('oneof o { int32 a = 1; string b = 2; }'),
    'MULTIPLE_FIELDS_MOVED_TO_ONEOF',
  ],
  [
    'a field moves to a oneof that was',
    M('int32 a = 1; oneof o { string b = 2; }'),
    M('oneof o { string b = 2; int32 a = 1; }'),
    'FIELD_MOVED_TO_EXISTING_ONEOF',
  ],
  [
    'two oneofs become one',
    M('oneof o { int32 a = 1; } oneof q { int32 b = 2; }'),
    M('oneof o { int32 a = 1; int32 b = 2; }'),
    'FIELD_MOVED_TO_EXISTING_ONEOF',
  ],
  ['a oneof gets a field', M('oneof o { int32 a = 1; }'), M('oneof o { int32 a = 1; int32 b = 2; }')],
  ['a oneof loses a field', M('oneof o { int32 a = 1; int32 b = 2; }'), M('oneof o { int32 a = 1; }'), 'ONEOF_FIELD_REMOVED'],
  ['a oneof has another name', M('oneof o { int32 a = 1; int32 b = 2; }'), M('oneof q { int32 a = 1; int32 b = 2; }')],
  ['a oneof goes, its fields stay', M('oneof o { int32 a = 1; int32 b = 2; }'), M('int32 a = 1; int32 b = 2;')],
  ['a field of a oneof changes', M('oneof o { int32 a = 1; }'), M('oneof o { string a = 1; }'), 'FIELD_SCALAR_KIND_CHANGED'],
  ['a required field comes', two('optional int32 a = 1;'), two('optional int32 a = 1; required int32 b = 2;'), 'REQUIRED_FIELD_ADDED'],
  ['a required field goes', two('optional int32 a = 1; required int32 b = 2;'), two('optional int32 a = 1;'), 'REQUIRED_FIELD_REMOVED'],
  [
    'well-known types',
    P('import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp a = 1; }', ''),
    P('import "google/protobuf/timestamp.proto"; message M { google.protobuf.Timestamp a = 1; int32 b = 2; }', ''),
  ],
]

describe('Protobuf compatibility', () => {
  it.each(cases)('%s', (_, writer, reader, ...kinds) => {
    const problems = protobufLanguage.parse(reader, []).unreadable(protobufLanguage.parse(writer, []))
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(kinds)
  })
})

const EVERYTHING = `
// a comment
syntax = "proto3";
package a.b;
import public "google/protobuf/timestamp.proto"; import 'other.proto';
option java_package = "x";
message M {
  reserved 5, 7 to 9; reserved "foo";
  optional int32 o = 1; repeated N n = 2 [deprecated = true];
  map<string, N.E> m = 3; oneof k { string s = 4; N t = 6; }
  google.protobuf.Timestamp at = 10 [json_name = "when"]; repeated int32 p = 11 [packed = false]; c.Other other = 12;
  message N { enum E { option allow_alias = true; Z = 0; Y = 1; X = 1; } E e = 1; }
}
service S { rpc Do (M) returns (stream M.N); }`
const REFERENCES = [{ name: 'other.proto', subject: 'other', version: 1, schema: 'syntax = "proto3"; package c; message Other {}' }]

describe('Protobuf text', () => {
  it('is written in one way: comments and white space do not count', () => {
    const { canonical } = protobufLanguage.parse(EVERYTHING, REFERENCES)
    expect(canonical).toContain(
      '  optional int32 o = 1;\n  repeated N n = 2 [deprecated = true];\n  map<string, N.E> m = 3;\n  oneof k {\n    string s = 4;',
    )
    expect(protobufLanguage.parse(canonical, REFERENCES).canonical).toBe(canonical)
    expect(protobufLanguage.parse(EVERYTHING.replace('// a comment', '').replaceAll(' ', '\n  /* x */ '), REFERENCES).canonical).toBe(
      canonical,
    )
  })

  it('as descriptor and back says the same', () => {
    const first = protobufLanguage.parse(EVERYTHING, REFERENCES)
    const second = protobufLanguage.parse(first.serialized!(), REFERENCES)
    expect(second.serialized!()).toBe(first.serialized!())
    expect(second.normalized()).toContain('google.protobuf.Timestamp at = 10 [json_name = "when"]')
    expect(first.unreadable(second)).toEqual([])
    expect(second.unreadable(first)).toEqual([])
  })

  it('normalized: imports and options in order, names in full', () => {
    const parse = (head: string, type: string) =>
      protobufLanguage.parse(`syntax = "proto3"; package a.b; ${head} message M { ${type} n = 1; message N {} }`, [])
    const first = parse(
      'option java_package = "x"; option go_package = "y"; import "google/protobuf/any.proto"; import "google/protobuf/empty.proto";',
      'N',
    )
    const second = parse(
      'import "google/protobuf/empty.proto"; import "google/protobuf/any.proto"; option go_package = "y"; option java_package = "x";',
      '.a.b.M.N',
    )
    expect(first.normalized()).toBe(second.normalized())
    expect(first.canonical).not.toBe(second.canonical)
  })

  it.each([
    ['syntax = "proto3"; message M { int32 a = 1; ', /middle of a statement/],
    ['syntax = "proto3"; message M { Nothing a = 1; }', /Nothing/],
    ['syntax = "proto3"; import "nowhere.proto"; message M {}', /no reference has this name/],
    ['syntax = "proto3"; message M { int32 a = 1; int32 b = 1; }', /not valid/],
    ['syntax = "proto3"; message M { int32 = 1; }', /not valid/],
    ['}', /braces/],
    ['message', /middle of a statement/],
  ])('%s is refused', (schema, why) => {
    expect(() => protobufLanguage.parse(schema, [])).toThrow(why)
    expect(() => protobufLanguage.parse(schema, [])).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }))
  })
})
