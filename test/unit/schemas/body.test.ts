import { describe, expect, it } from 'vitest'
import { decodeBody, encodeBody, guidOf, type SchemaBody } from '../../../src/schemas/registry/body.ts'

const BODIES: readonly SchemaBody[] = [
  { type: 'AVRO', schema: '"int"', references: [] },
  {
    type: 'PROTOBUF',
    schema: 'syntax = "proto3";\n',
    references: [{ name: 'a.proto', subject: ':.c:a', version: 3 }],
    metadata: { properties: { owner: 'ä' } },
    ruleSet: { domainRules: [] },
  },
]

/** As they lie in metadata logs (docs/FORMATS.md); whoever changes what is here cannot read what was registered. */
const FROZEN = [
  'ab562aa92c4855b252720c0bf257d2512a4ece48cd4d54b2528a51cacc2b895152d2512a4a4d4b2d4acd4b4e2d56b28a8ead0500',
  '1dcdb10e82301485e15721676e58d8ae717170c5a04ec2702dd7889196b445254ddfc637f1c54c99cf9fef44846512100e4d7daa77e73d14bcbecbc820f8c504fe14dba2c5e46cb0558b4d6ba0e0e4264e8c160fba44181e33c1e55a6561be3e440710a8d4c4507889f38335a02a750aa304ee39302866791217866c45d8b71107c2ef8b9414dcfc94a384bcf476e4c134f3733ded52fa03',
]
const GUIDS = ['86cabf20-ebc5-8f0c-a0cc-e1a3f37cf512', '9d559227-6cef-82aa-a194-5384b5f02474']

describe('bodies of schemas', () => {
  it.each(BODIES.map((body, i) => [body.type, body, i] as const))('%s: frozen bytes and guid', (_, body, i) => {
    expect(decodeBody(Buffer.from(FROZEN[i], 'hex'))).toEqual(body)
    expect(decodeBody(encodeBody(body))).toEqual(body)
    expect(guidOf(body)).toBe(GUIDS[i])
  })

  it('differ in guid when anything differs', () => {
    const [, body] = BODIES
    const others: SchemaBody[] = [
      { ...body, type: 'JSON' },
      { ...body, schema: 'x' },
      { ...body, references: [] },
      { ...body, references: [{ ...body.references[0], version: 4 }] },
      { ...body, metadata: undefined },
      { ...body, ruleSet: undefined },
    ]
    expect(new Set([body, ...others].map(guidOf)).size).toBe(7)
  })

  it('that are damaged, or inflate without end, are told', () => {
    expect(() => decodeBody(Buffer.from('nothing'))).toThrow(expect.objectContaining({ code: 'CORRUPT' }))
    const bomb = encodeBody({ type: 'AVRO', schema: ' '.repeat(40 * 1024 * 1024), references: [] })
    expect(() => decodeBody(bomb)).toThrow(expect.objectContaining({ code: 'CORRUPT' }))
  })
})
