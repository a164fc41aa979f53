// Avro specification 1.12, "Schema Resolution": every rule with a pair that keeps it and one that breaks it.
import { describe, expect, it } from 'vitest'
import { avro } from '../../../src/schemas/languages/avro/avro.ts'

const R = (fields: string, more = ''): string => `{"type":"record","name":"R"${more},"fields":[${fields}]}`
const F = (name: string, type: string, more = ''): string => `{"name":"${name}","type":${type}${more}}`
const E = (symbols: string, more = ''): string => `{"type":"enum","name":"E","symbols":[${symbols}]${more}}`
const X = (size: number, name = 'X'): string => `{"type":"fixed","name":"${name}","size":${size}}`
const A = (items: string): string => `{"type":"array","items":${items}}`
const M = (values: string): string => `{"type":"map","values":${values}}`
const D = (value: string): string => `,"default":${value}`
const LIST = '{"type":"record","name":"L","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","L"]}]}'

/** [what, writer, reader, kinds of problems]. */
const cases: readonly (readonly [string, string, string, ...string[]])[] = [
  ...['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'].map((t) => [`${t} as itself`, `"${t}"`, `"${t}"`] as const),
  ['int to long', '"int"', '"long"'],
  ['int to float', '"int"', '"float"'],
  ['int to double', '"int"', '"double"'],
  ['long to float', '"long"', '"float"'],
  ['long to double', '"long"', '"double"'],
  ['float to double', '"float"', '"double"'],
  ['string to bytes', '"string"', '"bytes"'],
  ['bytes to string', '"bytes"', '"string"'],
  ['long to int', '"long"', '"int"', 'TYPE_MISMATCH'],
  ['double to float', '"double"', '"float"', 'TYPE_MISMATCH'],
  ['float to long', '"float"', '"long"', 'TYPE_MISMATCH'],
  ['int to string', '"int"', '"string"', 'TYPE_MISMATCH'],
  ['boolean to int', '"boolean"', '"int"', 'TYPE_MISMATCH'],
  ['null to int', '"null"', '"int"', 'TYPE_MISMATCH'],
  ['bytes to fixed', '"bytes"', X(4), 'TYPE_MISMATCH'],
  ['a logical type does not count', '"long"', '{"type":"long","logicalType":"timestamp-millis"}'],
  ['array items', A('"int"'), A('"long"')],
  ['array items, wrong', A('"long"'), A('"int"'), 'TYPE_MISMATCH'],
  ['map values', M('"int"'), M('"double"')],
  ['map values, wrong', M('"string"'), M('"int"'), 'TYPE_MISMATCH'],
  ['array to map', A('"int"'), M('"int"'), 'TYPE_MISMATCH'],
  ['record to map', R(''), M('"int"'), 'TYPE_MISMATCH'],
  ['a field comes with a default', R(F('a', '"int"')), R(F('a', '"int"') + ',' + F('b', '"int"', D('0')))],
  ['a field comes without', R(F('a', '"int"')), R(F('a', '"int"') + ',' + F('b', '"int"')), 'READER_FIELD_MISSING_DEFAULT_VALUE'],
  ['a default of null is one', R(''), R(F('b', '["null","int"]', D('null')))],
  ['a nullable field without default', R(''), R(F('b', '["null","int"]')), 'READER_FIELD_MISSING_DEFAULT_VALUE'],
  ['a field goes', R(F('a', '"int"') + ',' + F('b', '"int"')), R(F('a', '"int"'))],
  ['fields in another order', R(F('a', '"int"') + ',' + F('b', '"string"')), R(F('b', '"string"') + ',' + F('a', '"int"'))],
  ['a field is promoted', R(F('a', '"int"')), R(F('a', '"long"'))],
  ['a field has another type', R(F('a', '"int"')), R(F('a', '"string"')), 'TYPE_MISMATCH'],
  ['a field has another name', R(F('a', '"int"')), R(F('b', '"int"')), 'READER_FIELD_MISSING_DEFAULT_VALUE'],
  ['… and the old one as alias', R(F('a', '"int"')), R(F('b', '"int"', ',"aliases":["a"]'))],
  ['an alias with a wrong type', R(F('a', '"string"')), R(F('b', '"int"', ',"aliases":["a"]')), 'TYPE_MISMATCH'],
  [
    'two problems',
    R(F('a', '"int"')),
    R(F('a', '"string"') + ',' + F('b', '"int"')),
    'TYPE_MISMATCH',
    'READER_FIELD_MISSING_DEFAULT_VALUE',
  ],
  ['a record of another name', R(''), '{"type":"record","name":"S","fields":[]}', 'NAME_MISMATCH'],
  ['… that has the old one as alias', R(''), '{"type":"record","name":"S","aliases":["R"],"fields":[]}'],
  ['another namespace does not count', R('', ',"namespace":"a"'), R('', ',"namespace":"b"')],
  [
    'a nested record',
    R(F('r', '{"type":"record","name":"N","fields":[]}')),
    R(F('r', '{"type":"record","name":"N","fields":[{"name":"x","type":"int","default":1}]}')),
  ],
  [
    'a nested record, wrong',
    R(F('r', '{"type":"record","name":"N","fields":[]}')),
    R(F('r', '{"type":"record","name":"N","fields":[{"name":"x","type":"int"}]}')),
    'READER_FIELD_MISSING_DEFAULT_VALUE',
  ],
  ['enum as itself', E('"A","B"'), E('"A","B"')],
  ['an enum gets a symbol', E('"A"'), E('"A","B"')],
  ['an enum loses a symbol', E('"A","B"'), E('"A"'), 'MISSING_ENUM_SYMBOLS'],
  ['… but has a default', E('"A","B"'), E('"A"', D('"A"'))],
  ['symbols in another order', E('"A","B"'), E('"B","A"')],
  ['enum to string', E('"A"'), '"string"', 'TYPE_MISMATCH'],
  ['fixed as itself', X(4), X(4)],
  ['fixed of another size', X(4), X(5), 'FIXED_SIZE_MISMATCH'],
  ['fixed of another name', X(4), X(4, 'Y'), 'NAME_MISMATCH'],
  ['fixed to bytes', X(4), '"bytes"', 'TYPE_MISMATCH'],
  ['a type becomes a union', '"int"', '["null","int"]'],
  ['… by promotion', '"int"', '["null","double"]'],
  ['… without it', '"int"', '["null","string"]', 'MISSING_UNION_BRANCH'],
  ['a union becomes its only type', '["int"]', '"int"'],
  ['a union becomes one of its types', '["null","int"]', '"int"', 'TYPE_MISMATCH'],
  ['a union that one type reads', '["int","long"]', '"long"'],
  ['a union gets a type', '["null","int"]', '["null","int","string"]'],
  ['a union loses a type', '["null","int","string"]', '["null","int"]', 'MISSING_UNION_BRANCH'],
  ['a union in another order', '["null","int"]', '["int","null"]'],
  ['bytes and string read each other in unions', '["null","string"]', '["null","bytes"]'],
  [
    'unions of records',
    '[{"type":"record","name":"P","fields":[]}]',
    '["null",{"type":"record","name":"P","fields":[{"name":"x","type":"int","default":0}]}]',
  ],
  [
    'unions of records, wrong',
    '[{"type":"record","name":"P","fields":[]}]',
    '["null",{"type":"record","name":"P","fields":[{"name":"x","type":"int"}]}]',
    'MISSING_UNION_BRANCH',
  ],
  ['recursive', LIST, LIST],
  ['recursive, promoted', LIST, LIST.replace('"int"', '"long"')],
  ['recursive, wrong', LIST, LIST.replace('"int"', '"string"'), 'TYPE_MISMATCH'],
]

describe('Avro schema resolution', () => {
  it.each(cases)('%s', (_, writer, reader, ...kinds) => {
    const problems = avro.parse(reader, []).unreadable(avro.parse(writer, []))
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(kinds)
  })
})

describe('Avro text', () => {
  const text = (schema: string): string => avro.parse(schema, []).canonical
  it.each([
    ['"int"', '"int"'],
    ['{"type":"int"}', '"int"'],
    ['{"type":{"type":"int"}}', '"int"'],
    ['{"logicalType":"date","type":"int"}', '{"type":"int","logicalType":"date"}'],
    ['{"fields":[],"name":"a.b.R","type":"record"}', '{"type":"record","name":"R","namespace":"a.b","fields":[]}'],
    ['{"type":"record","name":"R","namespace":"","fields":[]}', '{"type":"record","name":"R","fields":[]}'],
    [
      '{"type":"enum","name":"E","default":"A","symbols":["A"],"doc":"d","aliases":["F"]}',
      '{"type":"enum","name":"E","doc":"d","symbols":["A"],"default":"A","aliases":["F"]}',
    ],
    [
      '{"type":"record","name":"R","fields":[{"type":"double","default":1.0,"order":"ascending","name":"a"}]}',
      '{"type":"record","name":"R","fields":[{"name":"a","type":"double","default":1.0}]}',
    ],
    [
      '{"type":"record","name":"R","fields":[{"type":"long","default":9007199254740993,"name":"a"}]}',
      '{"type":"record","name":"R","fields":[{"name":"a","type":"long","default":9007199254740993}]}',
    ],
    [
      '{"type":"record","name":"n.R","fields":[{"name":"a","type":{"type":"fixed","name":"n.X","size":2}},{"name":"b","type":"n.X"}]}',
      '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":{"type":"fixed","name":"X","size":2}},{"name":"b","type":"X"}]}',
    ],
  ])('%s', (schema, canonical) => {
    expect(text(schema)).toBe(canonical)
    expect(text(canonical)).toBe(canonical)
  })

  it.each([
    ['string', /no JSON/],
    ['{}', /no "type"/],
    ['{"type":"record","name":"R"}', /no "fields"/],
    ['{"type":"record","name":"1","fields":[]}', /no Avro name/],
    ['{"type":"enum","name":"E","symbols":["a b"]}', /no symbol/],
    ['{"type":"enum","name":"E","symbols":["a"],"default":"b"}', /none of its symbols/],
    ['["int","int"]', /"int" twice/],
    ['["int",["null"]]', /another union/],
    ['{"type":"array"}', /no "items"/],
    ['{"type":"fixed","name":"X","size":-1}', /no whole number/],
    [R(F('a', '"Y"')), /"Y" is not defined/],
    [R(F('a', '"int"') + ',' + F('a', '"int"')), /stands twice/],
    [R(F('a', '"int"', D('"x"'))), /default/],
    ['{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"record","name":"R","fields":[]}}]}', /defined twice/],
  ])('%s is refused', (schema, why) => {
    expect(() => text(schema)).toThrow(why)
    expect(() => text(schema)).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }))
  })
})
