import { describe, expect, it } from 'vitest'
import { hasCode } from '../../src/base/errors.ts'
import { avro } from '../../src/schemas/languages/avro/avro.ts'
import { json } from '../../src/schemas/languages/json/jsonSchema.ts'
import type { Language } from '../../src/schemas/languages/language.ts'
import { protobufLanguage } from '../../src/schemas/languages/protobuf/protobufSchema.ts'
import { runCheck } from '../../src/schemas/registry/check.ts'
import { seeded, type Random } from '../lib/random.ts'

/**
 * Whatever the text: a schema or SCHEMA_INVALID, nothing else. What is taken is taken again as the text that is kept, reads
 * itself, and can be compared with every other one. FUZZ_SEED and FUZZ_ROUNDS look further.
 */
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)
const ROUNDS = Number(process.env['FUZZ_ROUNDS'] ?? 400)

const SEEDS: readonly (readonly [Language, readonly string[]])[] = [
  [
    avro,
    [
      '{"type":"record","name":"R","namespace":"n","doc":"d","aliases":["S"],"fields":[{"name":"a","type":["null","R"],"default":null},{"name":"b","type":{"type":"map","values":{"type":"enum","name":"E","symbols":["A","B"]}}},{"name":"c","type":{"type":"fixed","name":"F","size":3}},{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":4,"scale":2},"default":"\\u00ff"}]}',
      '["null",{"type":"array","items":"long"},"string"]',
    ],
  ],
  [
    json,
    [
      '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"$ref":"#/definitions/x"},"b":{"enum":[1,"2",null]}},"patternProperties":{"^c":{"type":["integer","null"]}},"additionalProperties":false,"required":["a"],"definitions":{"x":{"anyOf":[{"type":"string","maxLength":3},{"$ref":"#"}]}}}',
      '{"type":"array","items":[{"type":"number","multipleOf":0.5},{"not":{"const":1}}],"additionalItems":{"allOf":[{"minItems":1}]}}',
    ],
  ],
  [
    protobufLanguage,
    [
      'syntax = "proto3"; package a.b; import "google/protobuf/timestamp.proto"; option java_package = "x"; message M { reserved 5, 7 to 9; optional int32 o = 1; repeated N n = 2 [deprecated = true]; map<string, N.E> m = 3; oneof k { string s = 4; N t = 6; } google.protobuf.Timestamp at = 10; message N { enum E { option allow_alias = true; Z = 0; Y = 1; X = 1; } E e = 1; } } service S { rpc Do (M) returns (stream M.N); }',
      'syntax = "proto2"; message M { required group G = 1 { optional bytes b = 2 [default = "\\001"]; } extensions 100 to max; extend M { optional M m = 100; } }',
    ],
  ],
]

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  ';',
  '=',
  '\\',
  '\u0000',
  '1e400',
  '-0',
  'null',
  'true',
  '"type"',
  '"$ref":"#"',
  '"a"',
  'message M {',
  'int32 x = 1;',
  '<',
  '>',
  '.',
  'é',
]

function mutate(text: string, random: Random): string {
  let out = text
  for (let edits = 1 + random.int(4); edits > 0; edits--) {
    const at = random.int(out.length + 1)
    const to = at + random.int(8)
    const kind = random.int(4)
    if (kind === 0) out = out.slice(0, at) + out.slice(to)
    else if (kind === 1) out = out.slice(0, at) + PIECES[random.int(PIECES.length)] + out.slice(at)
    else if (kind === 2) out = out.slice(0, at) + out.slice(random.int(out.length + 1)) + out.slice(at)
    else out = out.slice(0, at) + PIECES[random.int(PIECES.length)] + out.slice(to)
  }
  return out.slice(0, 5000)
}

describe('schemas of any text', () => {
  it.each(SEEDS.map(([language, seeds]) => [language.type, language, seeds] as const))('%s', (type, language, seeds) => {
    const random = seeded(SEED)
    let taken: string[] = [...seeds]
    for (let round = 0; round < ROUNDS; round++) {
      const text = mutate(taken[random.int(taken.length)], random)
      let canonical: string
      try {
        canonical = runCheck({ kind: 'canonical', text: { type, schema: text, references: [] }, normalize: false }) as string
      } catch (error) {
        if (hasCode(error, 'SCHEMA_INVALID')) continue
        throw error
      }
      const schema = language.parse(canonical, [])
      expect(schema.canonical).toBe(canonical)
      expect(language.parse(schema.normalized(), []).normalized()).toBe(schema.normalized())
      expect(schema.unreadable(language.parse(canonical, []))).toEqual([])
      language.parse(taken[random.int(taken.length)], []).unreadable(schema)
      schema.serialized?.()
      taken = [...taken.slice(-50), text]
    }
  })
})
