// @kafkajs/confluent-schema-registry, a client we did not write: registers, encodes and decodes in all three languages.
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { registryBench, type RegistryBench } from './harness.ts'

let b: RegistryBench
let host: string
beforeEach(async () => {
  b = await registryBench()
  host = `${await b.app.listen({ host: '127.0.0.1', port: 0 })}/schemas`
})
afterEach(() => b.end())

describe('@kafkajs/confluent-schema-registry', () => {
  const schemas = [
    {
      type: SchemaType.AVRO,
      schema: '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":"long"},{"name":"b","type":["null","string"]}]}',
      value: { a: 7, b: 'x' },
    },
    {
      type: SchemaType.JSON,
      schema: '{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}',
      value: { a: 7 },
    },
    {
      type: SchemaType.PROTOBUF,
      schema: 'syntax = "proto3"; package n; message R { int32 a = 1; repeated string b = 2; }',
      value: { a: 7, b: ['x', 'y'] },
    },
  ]
  it.each(schemas)('$type: what it encodes, another one decodes', async ({ type, schema, value }) => {
    const subject = `t-${type}`
    const writer = new SchemaRegistry({ host })
    const { id } = await writer.register({ type, schema } as never, { subject })
    expect(await writer.register({ type, schema } as never, { subject })).toMatchObject({ id })
    const bytes = await writer.encode(id, value)
    expect([bytes[0], bytes.readInt32BE(1)]).toEqual([0, id])
    const reader = new SchemaRegistry({ host })
    expect({ ...(await reader.decode(bytes)) }).toEqual(value)
    expect(await reader.getLatestSchemaId(subject)).toBe(id)
    expect(await reader.getRegistryId(subject, 1)).toBe(id)
    expect(await reader.getRegistryIdBySchema(subject, { type, schema } as never)).toBe(id)
    expect((await b.call(`GET subjects/${subject}/versions/1`)).body.schemaType ?? 'AVRO').toBe(type)
  })

  it('references in all three languages', async () => {
    const registry = new SchemaRegistry({ host })
    const register = async (type: SchemaType, subject: string, schema: string, references: object[] = []): Promise<number> =>
      (await registry.register({ type, schema, references } as never, { subject })).id
    await register(SchemaType.AVRO, 'avro', '{"type":"record","name":"A","namespace":"n","fields":[{"name":"a","type":"int"}]}')
    const avro = await register(
      SchemaType.AVRO,
      'avro-2',
      '{"type":"record","name":"B","namespace":"n","fields":[{"name":"inner","type":"n.A"}]}',
      [{ name: 'n.A', subject: 'avro', version: 1 }],
    )
    await register(SchemaType.PROTOBUF, 'proto', 'syntax = "proto3"; package n; message A { int32 a = 1; }')
    const proto = await register(
      SchemaType.PROTOBUF,
      'proto-2',
      'syntax = "proto3"; package n; import "a.proto"; message B { A inner = 1; }',
      [{ name: 'a.proto', subject: 'proto', version: 1 }],
    )
    await register(SchemaType.JSON, 'json', '{"$id":"https://example.com/a.json","type":"object","properties":{"a":{"type":"number"}}}')
    const json = await register(
      SchemaType.JSON,
      'json-2',
      '{"$id":"https://example.com/b.json","type":"object","properties":{"inner":{"$ref":"https://example.com/a.json"}}}',
      [{ name: 'https://example.com/a.json', subject: 'json', version: 1 }],
    )
    const reader = new SchemaRegistry({ host })
    for (const id of [avro, proto, json]) {
      const back = (await reader.decode(await registry.encode(id, { inner: { a: 5 } }))) as { inner: { a: number } }
      expect(back.inner.a).toBe(5)
    }
  })

  it('is told what is not compatible', async () => {
    const registry = new SchemaRegistry({ host, retry: { retries: 0 } })
    const options = { subject: 's', compatibility: COMPATIBILITY.BACKWARD }
    const avro = (type: string) =>
      ({ type: SchemaType.AVRO, schema: `{"type":"record","name":"n.R","fields":[{"name":"a","type":"${type}"}]}` }) as const
    await registry.register(avro('int'), options)
    await expect(registry.register(avro('string'), options)).rejects.toThrow(/incompatible with an earlier schema/)
    await expect(registry.decode(Buffer.from([0, 0, 0, 0, 99, 1]))).rejects.toThrow(/Schema 99 not found/)
  })
})
