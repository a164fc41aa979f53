// JSON Schema: whether every value that was valid is valid still. The kinds are those of the registry's documentation.
import { describe, expect, it } from 'vitest'
import { json } from '../../../src/schemas/languages/json/jsonSchema.ts'

const O = (properties: string, more = ''): string => `{"type":"object","properties":{${properties}}${more}}`
const OPEN = ''
const CLOSED = ',"additionalProperties":false'
const REST = (schema: string): string => `,"additionalProperties":${schema}`
const REQUIRED = (...names: string[]): string => `,"required":${JSON.stringify(names)}`
const A = '"a":{"type":"integer"}'
const B = '"b":{"type":"string"}'
const S = (more: string): string => `{"type":"string",${more}}`
const N = (more: string): string => `{"type":"number",${more}}`
const L = (more: string): string => `{"type":"array",${more}}`
const STRING = '{"type":"string"}'
const NUMBER = '{"type":"number"}'
const INTEGER = '{"type":"integer"}'
const NODE = (type: string): string =>
  `{"$ref":"#/definitions/n","definitions":{"n":{"type":"object","properties":{"v":{"type":"${type}"},"next":{"$ref":"#/definitions/n"}}}}}`

/** [what, before, after, kinds of problems]. */
const cases: readonly (readonly [string, string, string, ...string[]])[] = [
  ['anything', '{}', '{}'],
  ['anything becomes something', '{}', STRING, 'TYPE_CHANGED'],
  ['something becomes anything', STRING, 'true'],
  ['nothing becomes something', 'false', STRING],
  ['another type', STRING, NUMBER, 'TYPE_CHANGED'],
  ['integer to number', INTEGER, NUMBER],
  ['number to integer', NUMBER, INTEGER, 'TYPE_NARROWED'],
  ['a type comes', STRING, '{"type":["string","null"]}'],
  ['a type goes', '{"type":["string","null"]}', STRING, 'TYPE_CHANGED'],
  ['titles do not count', '{"type":"string","title":"a"}', '{"type":"string","title":"b","description":"c"}'],
  ['maxLength grows', S('"maxLength":5'), S('"maxLength":6')],
  ['maxLength shrinks', S('"maxLength":5'), S('"maxLength":4'), 'MAX_LENGTH_DECREASED'],
  ['maxLength comes', STRING, S('"maxLength":4'), 'MAX_LENGTH_ADDED'],
  ['maxLength goes', S('"maxLength":4'), STRING],
  ['minLength grows', S('"minLength":5'), S('"minLength":6'), 'MIN_LENGTH_INCREASED'],
  ['minLength shrinks', S('"minLength":5'), S('"minLength":4')],
  ['pattern comes', STRING, S('"pattern":"a"'), 'PATTERN_ADDED'],
  ['pattern changes', S('"pattern":"a"'), S('"pattern":"b"'), 'PATTERN_CHANGED'],
  ['pattern goes', S('"pattern":"a"'), STRING],
  ['maximum grows', N('"maximum":5'), N('"maximum":5.5')],
  ['maximum shrinks', N('"maximum":5'), N('"maximum":4'), 'MAXIMUM_DECREASED'],
  ['minimum grows', N('"minimum":5'), N('"minimum":6'), 'MINIMUM_INCREASED'],
  ['exclusiveMaximum comes', NUMBER, N('"exclusiveMaximum":6'), 'EXCLUSIVE_MAXIMUM_ADDED'],
  ['exclusiveMinimum shrinks', N('"exclusiveMinimum":6'), N('"exclusiveMinimum":5')],
  ['multipleOf becomes a part', N('"multipleOf":10'), N('"multipleOf":5')],
  ['multipleOf becomes a multiple', N('"multipleOf":5'), N('"multipleOf":10'), 'MULTIPLE_OF_EXPANDED'],
  ['multipleOf changes', N('"multipleOf":5'), N('"multipleOf":7'), 'MULTIPLE_OF_CHANGED'],
  ['multipleOf with a fraction', N('"multipleOf":0.2'), N('"multipleOf":0.1')],
  ['an enum gets a value', '{"enum":["a"]}', '{"enum":["a","b"]}'],
  ['an enum loses a value', '{"enum":["a","b"]}', '{"enum":["a"]}', 'ENUM_ARRAY_NARROWED'],
  ['an enum has other values', '{"enum":["a"]}', '{"enum":["b"]}', 'ENUM_ARRAY_CHANGED'],
  ['an enum of strings becomes any string', '{"type":"string","enum":["a"]}', STRING],
  ['any string becomes an enum', STRING, '{"type":"string","enum":["a"]}', 'TYPE_CHANGED'],
  ['const changes', '{"const":1}', '{"const":2}', 'ENUM_ARRAY_CHANGED'],
  ['open: a property comes', O(A, OPEN), O(`${A},${B}`, OPEN), 'PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL'],
  ['open: a property of any kind comes', O(A, OPEN), O(`${A},"b":{}`, OPEN)],
  ['open: a property goes', O(`${A},${B}`, OPEN), O(A, OPEN)],
  ['closed: a property comes', O(A, CLOSED), O(`${A},${B}`, CLOSED)],
  ['closed: a property goes', O(`${A},${B}`, CLOSED), O(A, CLOSED), 'PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL'],
  ['closed: a forbidden property goes', O(`${A},"b":false`, CLOSED), O(A, CLOSED)],
  [
    'closed: a required property comes',
    O(A, CLOSED),
    O(`${A},${B}`, CLOSED + REQUIRED('b')),
    'REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL',
  ],
  ['closed: … with a default', O(A, CLOSED), O(`${A},"b":{"type":"string","default":"x"}`, CLOSED + REQUIRED('b'))],
  ['rest: a property comes that it covers', O(A, REST(INTEGER)), O(`${A},"b":{"type":"number"}`, REST(INTEGER))],
  [
    'rest: a property comes that it does not',
    O(A, REST(INTEGER)),
    O(`${A},${B}`, REST(INTEGER)),
    'PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
  ],
  ['rest: a property goes that it covers', O(`${A},${B}`, REST(STRING)), O(A, REST(STRING))],
  [
    'rest: a property goes that it does not',
    O(`${A},${B}`, REST(INTEGER)),
    O(A, REST(INTEGER)),
    'PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL',
  ],
  [
    'a pattern covers',
    O(A, `,"patternProperties":{"^b":${STRING}}${CLOSED}`),
    O(`${A},${B}`, `,"patternProperties":{"^b":${STRING}}${CLOSED}`),
  ],
  ['closed to open', O(A, CLOSED), O(A, OPEN)],
  ['open to closed', O(A, OPEN), O(A, CLOSED), 'ADDITIONAL_PROPERTIES_REMOVED'],
  ['open to a rest', O(A, OPEN), O(A, REST(STRING)), 'ADDITIONAL_PROPERTIES_NARROWED'],
  ['a rest to open', O(A, REST(STRING)), O(A, OPEN)],
  ['required comes', O(A), O(A, REQUIRED('a')), 'REQUIRED_ATTRIBUTE_ADDED'],
  ['required comes with a default', O(A), O('"a":{"type":"integer","default":1}', REQUIRED('a'))],
  ['required goes', O(A, REQUIRED('a')), O(A)],
  ['maxProperties shrinks', O(A, ',"maxProperties":5'), O(A, ',"maxProperties":4'), 'MAX_PROPERTIES_DECREASED'],
  ['minProperties comes', O(A), O(A, ',"minProperties":1'), 'MIN_PROPERTIES_ADDED'],
  ['a dependency comes', O(A), O(A, ',"dependencies":{"a":["b"]}'), 'DEPENDENCY_ARRAY_ADDED'],
  ['a dependency grows', O(A, ',"dependencies":{"a":["b"]}'), O(A, ',"dependencies":{"a":["b","c"]}'), 'DEPENDENCY_ARRAY_EXTENDED'],
  ['a dependency shrinks', O(A, ',"dependencies":{"a":["b","c"]}'), O(A, ',"dependencies":{"a":["b"]}')],
  ['a schema of a dependency comes', O(A), O(A, `,"dependentSchemas":{"a":${O(B)}}`), 'DEPENDENCY_SCHEMA_ADDED'],
  ['a nested property', O(`"o":${O(A)}`), O(`"o":${O('"a":{"type":"number"}')}`)],
  ['a nested property, wrong', O(`"o":${O(A)}`), O(`"o":${O('"a":{"type":"string"}')}`), 'TYPE_CHANGED'],
  ['items', L(`"items":${INTEGER}`), L(`"items":${NUMBER}`)],
  ['items, wrong', L(`"items":${NUMBER}`), L(`"items":${STRING}`), 'TYPE_CHANGED'],
  ['items come', '{"type":"array"}', L(`"items":${STRING}`), 'SCHEMA_ADDED'],
  ['items go', L(`"items":${STRING}`), '{"type":"array"}'],
  ['maxItems shrinks', L('"maxItems":5'), L('"maxItems":4'), 'MAX_ITEMS_DECREASED'],
  ['uniqueItems comes', L('"maxItems":5'), L('"maxItems":5,"uniqueItems":true'), 'UNIQUE_ITEMS_ADDED'],
  ['an item comes, open', L(`"items":[${STRING}]`), L(`"items":[${STRING},${STRING}]`), 'ITEM_ADDED_TO_OPEN_CONTENT_MODEL'],
  ['an item comes, closed', L(`"items":[${STRING}],"additionalItems":false`), L(`"items":[${STRING},${STRING}],"additionalItems":false`)],
  [
    'an item goes, closed',
    L(`"items":[${STRING},${STRING}],"additionalItems":false`),
    L(`"items":[${STRING}],"additionalItems":false`),
    'ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL',
  ],
  ['prefixItems of 2020-12', L(`"prefixItems":[${INTEGER}],"items":false`), L(`"prefixItems":[${NUMBER}],"items":false`)],
  ['contains comes', '{"type":"array"}', L(`"contains":${STRING}`), 'CONTAINS_ADDED'],
  ['one type becomes a choice', STRING, `{"oneOf":[${STRING},${NUMBER}]}`],
  ['one type becomes another choice', STRING, `{"oneOf":[${INTEGER},${NUMBER}]}`, 'TYPE_CHANGED'],
  ['a choice gets a type', `{"oneOf":[${STRING}]}`, `{"oneOf":[${STRING},${NUMBER}]}`],
  ['a choice loses a type', `{"oneOf":[${STRING},${NUMBER}]}`, `{"oneOf":[${STRING}]}`, 'SUM_TYPE_NARROWED'],
  ['a choice in another order', `{"anyOf":[${STRING},${NUMBER}]}`, `{"anyOf":[${NUMBER},${STRING}]}`],
  [
    'a choice has another type',
    `{"anyOf":[${STRING},${NUMBER}]}`,
    `{"anyOf":[${STRING},{"type":"null"}]}`,
    'COMBINED_TYPE_SUBSCHEMAS_CHANGED',
  ],
  ['oneOf to anyOf', `{"oneOf":[${STRING},${NUMBER}]}`, `{"anyOf":[${STRING},${NUMBER}]}`],
  ['anyOf to oneOf', `{"anyOf":[${STRING},${NUMBER}]}`, `{"oneOf":[${STRING},${NUMBER}]}`, 'COMBINED_TYPE_CHANGED'],
  ['allOf gets a demand', `{"allOf":[${O(A)}]}`, `{"allOf":[${O(A)},${O(B)}]}`, 'PRODUCT_TYPE_EXTENDED'],
  ['allOf loses a demand', `{"allOf":[${O(A)},${O(B)}]}`, `{"allOf":[${O(A)}]}`],
  ['not: less is forbidden', `{"not":${NUMBER}}`, `{"not":${INTEGER}}`],
  ['not: more is forbidden', `{"not":${INTEGER}}`, `{"not":${NUMBER}}`, 'NOT_TYPE_EXTENDED'],
  ['a condition changes', `{"if":${STRING},"then":${STRING}}`, `{"if":${STRING},"then":${NUMBER}}`, 'CONDITION_CHANGED'],
  ['recursive', NODE('integer'), NODE('number')],
  ['recursive, wrong, at the root and below', NODE('integer'), NODE('string'), 'TYPE_CHANGED', 'TYPE_CHANGED'],
  ['a $ref instead of what it means', O(A), '{"type":"object","properties":{"a":{"$ref":"#/$defs/i"}},"$defs":{"i":{"type":"integer"}}}'],
]

describe('JSON Schema compatibility', () => {
  it.each(cases)('%s', (_, before, after, ...kinds) => {
    const problems = json.parse(after, []).unreadable(json.parse(before, []))
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(kinds)
  })
})

describe('JSON Schema text', () => {
  it('loses white space only; normalized, its names are in order', () => {
    const schema = json.parse('{ "type" : "number",\n"multipleOf": 0.10, "maximum": 18446744073709551616 }', [])
    expect(schema.canonical).toBe('{"type":"number","multipleOf":0.10,"maximum":18446744073709551616}')
    expect(schema.normalized()).toBe('{"maximum":18446744073709551616,"multipleOf":0.10,"type":"number"}')
  })

  it.each([
    '"text"',
    '{',
    '{"type":"nothing"}',
    '{"type":5}',
    '{"minLength":-1}',
    '{"properties":[]}',
    '{"$ref":"#/definitions/none"}',
    '{"$ref":"other.json"}',
    '{"$schema":"https://json-schema.org/draft/2020-12/schema","prefixItems":{}}',
  ])('%s is refused', (schema) => {
    expect(() => json.parse(schema, [])).toThrow(expect.objectContaining({ code: 'SCHEMA_INVALID' }))
  })

  it('finds what references, ids, anchors and pointers name', () => {
    const references = [
      {
        name: 'other.json',
        subject: 's',
        version: 1,
        schema: '{"$id":"https://x.example/other.json","definitions":{"a/b":{"type":"integer"}}}',
      },
    ]
    const refs = [
      'other.json',
      'other.json#/definitions/a~1b',
      'https://x.example/other.json#/definitions/a~1b',
      '#own',
      '#/definitions/c',
      'http://json-schema.org/draft-07/schema#',
    ]
    const properties = Object.fromEntries(refs.map((ref, i) => [`p${i}`, { $ref: ref }]))
    const schema = { $id: 'https://x.example/main.json', properties, definitions: { c: { $id: '#own', type: 'string' } } }
    expect(() => json.parse(JSON.stringify(schema), references)).not.toThrow()
    expect(() => json.parse(JSON.stringify(schema), [])).toThrow(/leads nowhere/)
  })

  it('ends for schemas made to take long', () => {
    const nest = (depth: number): object =>
      depth === 0
        ? { type: 'string' }
        : { anyOf: Array.from({ length: 4 }, (_, i) => ({ allOf: [nest(depth - 1), { title: String(i), type: 'string' }] })) }
    const schema = JSON.stringify(nest(5))
    expect(json.parse(schema, []).unreadable(json.parse(schema.replaceAll('"title":"', '"title":"x'), [])).length).toBeLessThan(10)
  })
})
