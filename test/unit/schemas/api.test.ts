import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { field, record, registryBench, type RegistryBench } from './harness.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'

let b: RegistryBench
beforeEach(async () => {
  b = await registryBench()
})
afterEach(() => b.end())

const A = record(field('a'))
const AB = record(field('a'), field('b', 'int', { default: 0 }))
const ABC = record(field('a'), field('b', 'int', { default: 0 }), field('c', 'string', { default: '' }))

async function codes(...requests: (string | [string, unknown])[]): Promise<(readonly [number, number | undefined])[]> {
  const found: (readonly [number, number | undefined])[] = []
  for (const request of requests) {
    const { status, body } = await (typeof request === 'string' ? b.call(request) : b.call(...request))
    found.push([status, body?.error_code])
  }
  return found
}

async function put(subject: string, schema: string, more: object = {}): Promise<number> {
  const { status, body } = await b.call(`POST subjects/${subject}/versions`, { schema, ...more })
  expect([status, body]).toMatchObject([200, { schema: expect.any(String) }])
  return body.id
}

describe('subjects and versions', () => {
  it('one id for equal schemas, whoever registers them and however they are written', async () => {
    const id = await put('a', A)
    expect(await put('a', A)).toBe(id)
    expect(await put('b', `{ "name": "n.R", "fields":[{"type":"int", "name":"a"}], "type":"record" }`)).toBe(id)
    expect(await put('a', AB)).toBe(id + 1)
    expect((await b.call('GET subjects/a/versions')).body).toEqual([1, 2])
    expect((await b.call(`GET schemas/ids/${id}/versions`)).body).toEqual([
      { subject: 'a', version: 1 },
      { subject: 'b', version: 1 },
    ])
    expect((await b.call(`GET schemas/ids/${id}/subjects`)).body).toEqual(['a', 'b'])
    expect((await b.call('GET subjects')).body).toEqual(['a', 'b'])
    expect((await b.call('GET schemas?latestOnly=true')).body.map(({ subject, version }: never) => [subject, version])).toEqual([
      ['a', 2],
      ['b', 1],
    ])
  })

  it('answers as clients expect: content type, shapes, no type for Avro', async () => {
    const id = await put('a', A)
    const { type, body } = await b.call('GET subjects/a/versions/latest')
    expect(type).toBe('application/vnd.schemaregistry.v1+json')
    expect(body).toEqual({ subject: 'a', version: 1, id, guid: expect.stringMatching(/^[0-9a-f-]{36}$/), schema: A_CANONICAL })
    expect((await b.call(`GET schemas/ids/${id}`)).body).toEqual({ schema: A_CANONICAL, guid: body.guid })
    expect((await b.call(`GET schemas/guids/${body.guid}`)).body).toEqual({ schema: A_CANONICAL, guid: body.guid })
    expect((await b.call(`GET schemas/guids/${body.guid}/ids`)).body).toEqual([{ context: '.', id }])
    expect((await b.call('GET subjects/a/versions/1/schema')).body).toEqual(JSON.parse(A))
    expect((await b.call(`GET schemas/ids/${id}/schema`)).body).toEqual(JSON.parse(A))
    expect((await b.call('POST subjects/a', { schema: A })).body).toEqual(body)
    expect((await b.call('GET schemas/types')).body).toEqual(['JSON', 'PROTOBUF', 'AVRO'])
  })

  it('its own error codes', async () => {
    await put('a', A)
    expect(
      await codes(
        'GET subjects/x/versions',
        'GET subjects/x/versions/1',
        'GET subjects/a/versions/2',
        'GET subjects/a/versions/0',
        'GET subjects/a/versions/none',
        'GET schemas/ids/99',
        'GET schemas/ids/none',
        'GET schemas/guids/none',
        ['POST subjects/x', { schema: A }],
        ['POST subjects/a', { schema: AB }],
        ['POST subjects/a/versions', { schema: '{' }],
        ['POST subjects/a/versions', { schema: '' }],
        ['POST subjects/a/versions', { schema: A, schemaType: 'XML' }],
        ['POST subjects/a/versions', { schema: A, references: [{ name: 'x', subject: 'nobody', version: 1 }] }],
        ['POST subjects/a/versions', { schema: record(field('b')) }],
        ['POST subjects/a/versions', 'no json'],
        ['POST subjects/a/versions', []],
        ['POST subjects/a/versions', { schema: A, id: 5 }],
        ['PUT config', { compatibility: 'SOME' }],
        ['PUT mode', { mode: 'SOME' }],
        'GET config/a',
        'GET mode/a',
        'DELETE config/a',
        ['POST compatibility/subjects/a/versions/7', { schema: A }],
        ['POST compatibility/subjects/x/versions/1', { schema: A }],
        'GET nothing',
        ['POST subjects/%00/versions', { schema: A }],
      ),
    ).toEqual([
      [404, 40401],
      [404, 40401],
      [404, 40402],
      [422, 42202],
      [422, 42202],
      [404, 40403],
      [404, 40403],
      [404, 40403],
      [404, 40401],
      [404, 40403],
      [422, 42201],
      [422, 42201],
      [422, 42201],
      [422, 42201],
      [409, 409],
      [400, 400],
      [400, 400],
      [422, 42205],
      [422, 42203],
      [422, 42204],
      [404, 40408],
      [404, 40409],
      [404, 40401],
      [404, 40402],
      [404, 40401],
      [404, 404],
      [422, 42208],
    ])
  })

  it('goes softly, then for ever', async () => {
    const id = await put('a', A)
    await put('a', AB)
    expect(await codes('DELETE subjects/a/versions/1?permanent=true', 'DELETE subjects/a?permanent=true', 'DELETE subjects/x')).toEqual([
      [404, 40407],
      [404, 40405],
      [404, 40401],
    ])
    expect((await b.call('DELETE subjects/a/versions/1')).body).toBe(1)
    expect((await b.call('GET subjects/a/versions')).body).toEqual([2])
    expect((await b.call('GET subjects/a/versions?deleted=true')).body).toEqual([1, 2])
    expect((await b.call('GET subjects/a/versions?deletedAsNegative=true')).body).toEqual([-1, 2])
    expect((await b.call('GET subjects/a/versions/1?deleted=true')).body).toMatchObject({ version: 1, deleted: true })
    expect(await codes('DELETE subjects/a/versions/1', 'GET subjects/a/versions/1', `GET schemas/ids/${id}`)).toEqual([
      [404, 40406],
      [404, 40402],
      [200, undefined],
    ])
    expect((await b.call('DELETE subjects/a/versions/1?permanent=true')).body).toBe(1)
    expect(await codes(`GET schemas/ids/${id}`)).toEqual([[404, 40403]])
    expect((await b.call('DELETE subjects/a')).body).toEqual([2])
    expect(await codes('DELETE subjects/a', 'GET subjects/a/versions', 'GET subjects/a/versions/latest')).toEqual([
      [404, 40404],
      [404, 40401],
      [404, 40401],
    ])
    expect((await b.call('GET subjects?deletedOnly=true')).body).toEqual(['a'])
    // softly deleted versions are counted, and not compared with
    expect((await b.call('POST subjects/a/versions', { schema: '"string"' })).body.version).toBe(3)
    expect((await b.call('DELETE subjects/a')).body).toEqual([3])
    expect((await b.call('DELETE subjects/a?permanent=true')).body).toEqual([2, 3])
    expect((await b.call('GET subjects?deleted=true')).body).toEqual([])
  })

  it('references: resolved, counted, and held', async () => {
    await put('inner', '{"type":"record","name":"n.Inner","fields":[]}')
    const references = [{ name: 'n.Inner', subject: 'inner', version: 1 }]
    const id = await put('outer', record(field('x', 'n.Inner')), { references })
    expect((await b.call('GET subjects/inner/versions/1/referencedby')).body).toEqual([id])
    expect((await b.call(`GET schemas/ids/${id}`)).body.references).toEqual(references)
    expect(await codes('DELETE subjects/inner', 'DELETE subjects/inner/versions/1')).toEqual([
      [422, 42206],
      [422, 42206],
    ])
    expect(await b.registry.source.byId(id)).toMatchObject({
      type: 'AVRO',
      references: [{ name: 'n.Inner', subject: 'inner', version: 1, schema: expect.stringContaining('Inner') }],
    })
    // the same text without the reference, or with another one, is another schema
    expect(await codes(['POST subjects/outer/versions', { schema: record(field('x', 'n.Inner')) }])).toEqual([[422, 42201]])
    await b.call('DELETE subjects/outer')
    expect(await codes('DELETE subjects/inner')).toEqual([[200, undefined]])
  })
})

const A_CANONICAL = '{"type":"record","name":"R","namespace":"n","fields":[{"name":"a","type":"int"}]}'

describe('compatibility', () => {
  it('looks at the latest version, or at all of them', async () => {
    await b.call('PUT config/s', { compatibility: 'NONE' })
    await put('s', record(field('a', 'string')))
    await put('s', A)
    const next = { schema: AB }
    const levels = ['BACKWARD', 'BACKWARD_TRANSITIVE', 'FORWARD', 'FORWARD_TRANSITIVE', 'FULL', 'FULL_TRANSITIVE', 'NONE']
    const found: boolean[] = []
    for (const compatibility of levels) {
      await b.call('PUT config/s', { compatibility })
      found.push((await b.call('POST compatibility/subjects/s/versions', next)).body.is_compatible)
    }
    expect(found).toEqual([true, false, true, false, true, false, true])
    const { body } = await b.call('POST compatibility/subjects/s/versions/1?verbose=true', next)
    expect(body).toEqual({ is_compatible: true, messages: [] })
    await b.call('PUT config/s', { compatibility: 'BACKWARD' })
    const verbose = await b.call('POST compatibility/subjects/s/versions/1?verbose=true', next)
    expect(verbose.body).toEqual({ is_compatible: false, messages: [expect.stringContaining('TYPE_MISMATCH at /fields/0/type')] })
  })

  it('a group keeps generations apart', async () => {
    await b.call('PUT config/s', { compatibility: 'BACKWARD', compatibilityGroup: 'major' })
    const metadata = (major: string) => ({ metadata: { properties: { major } } })
    await put('s', A, metadata('1'))
    expect(await codes(['POST subjects/s/versions', { schema: '"int"', ...metadata('1') }])).toEqual([[409, 409]])
    await put('s', '"int"', metadata('2'))
    await put('s', AB, metadata('1'))
    expect((await b.call('GET subjects/s/metadata?key=major&value=1')).body.version).toBe(3)
    expect((await b.call('GET subjects/s/metadata?key=major&value=2')).body.version).toBe(2)
  })

  it('many at once: each is checked against what is there when it is taken', async () => {
    await put('s', A)
    const all = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        b.call('POST subjects/s/versions', { schema: record(field('a'), field(`f${i}`, 'int', { default: i })) }),
      ),
    )
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    expect((await b.call('GET subjects/s/versions')).body).toHaveLength(13)
    // two that do not go together: one of them wins
    const [first, second] = await Promise.all([
      b.call('POST subjects/t/versions', { schema: '"int"' }),
      b.call('POST subjects/t/versions', { schema: '"string"' }),
    ])
    expect([first.status, second.status].sort((x, y) => x - y)).toEqual([200, 409])
  })
})

describe('settings', () => {
  it('come from the subject, its context, the default context', async () => {
    const level = async (scope: string): Promise<string> =>
      (await b.call(`GET config/${scope}?defaultToGlobal=true`)).body.compatibilityLevel
    expect((await b.call('GET config')).body).toEqual({ compatibilityLevel: 'BACKWARD' })
    expect((await b.call('PUT config', { compatibility: 'full' })).body).toEqual({ compatibility: 'FULL' })
    await b.call('PUT config/:.c:', { compatibility: 'NONE' })
    await b.call('PUT config/:.c:s', { compatibility: 'FORWARD' })
    expect(await Promise.all(['s', ':.d:s', ':.c:t', ':.c:s'].map(level))).toEqual(['FULL', 'FULL', 'NONE', 'FORWARD'])
    expect((await b.call('DELETE config/:.c:s')).body).toEqual({ compatibilityLevel: 'FORWARD' })
    expect(await level(':.c:s')).toBe('NONE')
    expect((await b.call('DELETE config')).body).toEqual({ compatibilityLevel: 'FULL' })
    expect((await b.call('GET config')).body).toEqual({ compatibilityLevel: 'BACKWARD' })
  })

  it('normalize and alias', async () => {
    await b.call('PUT config/s', { normalize: true })
    const id = await put('s', '{"type":"int","b":1,"a":2}')
    expect(await put('s', '{"type":"int","a":2,"b":1}')).toBe(id)
    expect(await put('t', '{"type":"int","b":1,"a":2}')).not.toBe(id)
    expect((await b.call('POST subjects/t/versions?normalize=true', { schema: '{"type":"int","b":1,"a":2}' })).body.id).toBe(id)
    await b.call('PUT config/other', { alias: 's' })
    expect((await b.call('GET subjects/other/versions/1')).body).toMatchObject({ subject: 's', id })
  })

  it('modes: read-only, import', async () => {
    await put('s', A)
    expect((await b.call('PUT mode/s', { mode: 'READONLY' })).body).toEqual({ mode: 'READONLY' })
    expect(
      await codes(['POST subjects/s/versions', { schema: AB }], 'DELETE subjects/s', ['POST subjects/s/versions', { schema: A }]),
    ).toEqual([
      [422, 42205],
      [422, 42205],
      [200, undefined],
    ])
    expect((await b.call('DELETE mode/s')).body).toEqual({ mode: 'READONLY' })
    expect(await codes(['PUT mode', { mode: 'IMPORT' }], ['PUT mode/new', { mode: 'IMPORT' }])).toEqual([
      [422, 42205],
      [200, undefined],
    ])
    expect((await b.call('POST subjects/new/versions', { schema: ABC, id: 500, version: 7 })).body).toMatchObject({ id: 500, version: 7 })
    expect(
      await codes(['POST subjects/new/versions', { schema: AB, id: 500, version: 8 }], ['POST subjects/new/versions', { schema: AB }]),
    ).toEqual([
      [422, 42205],
      [422, 42205],
    ])
    await b.call('PUT mode/:.__GLOBAL:', { mode: 'READONLY_OVERRIDE' })
    expect(await codes(['POST subjects/new/versions', { schema: AB, id: 501 }])).toEqual([[422, 42205]])
  })
})

describe('contexts', () => {
  it('have ids of their own, and are shown in names', async () => {
    expect(await put('s', A)).toBe(1)
    expect(await put(':.c:s', AB)).toBe(1)
    expect((await b.call('GET schemas/ids/1')).body.schema).toBe(A_CANONICAL)
    expect((await b.call('GET schemas/ids/1?subject=:.c:s')).body).toMatchObject({
      schema: expect.stringContaining('"b"'),
      subject: ':.c:s',
    })
    expect((await b.call('GET contexts/:.c:/schemas/ids/1')).body.schema).toContain('"b"')
    expect((await b.call('GET contexts')).body).toEqual(['.', '.c'])
    expect((await b.call('GET subjects')).body).toEqual([':.c:s', 's'])
    expect((await b.call('GET subjects?subjectPrefix=:.c:')).body).toEqual([':.c:s'])
    expect((await b.call('GET contexts/.c/subjects/s/versions')).body).toEqual([1])
    expect(await codes('DELETE contexts/.c')).toEqual([[422, 42211]])
    expect(await b.registry.source.byId(1, ':.c:s')).toMatchObject({ id: 1, schema: expect.stringContaining('"b"') })
    expect(await b.registry.source.byId(2)).toBeNull()
    expect(await b.registry.source.latest(':.c:s')).toMatchObject({ version: 1, id: 1 })
  })
})

describe('limits', () => {
  it('a schema of 10 MiB is taken, one above it is refused with a sentence; large ones are worked on elsewhere', async () => {
    const doc = (bytes: number): string => JSON.stringify({ type: 'int', doc: 'x'.repeat(bytes) })
    const id = await put('s', doc(10 * 1024 * 1024 - 100))
    expect(id).toBe(1)
    const { status, body } = await b.call('POST subjects/s/versions', { schema: doc(10 * 1024 * 1024) })
    expect([status, body.error_code, body.message]).toEqual([422, 42209, expect.stringContaining('the limit is 10485760')])
    const wide = record(...Array.from({ length: 1000 }, (_, i) => field(`f${i}`, ['null', 'string'], { default: null })))
    await put('wide', wide)
    await put('wide', record(...(JSON.parse(wide) as { fields: object[] }).fields, field('more', 'int', { default: 1 })))
  }, 60_000)

  it('what is nested too deep is refused', async () => {
    let type: unknown = 'int'
    for (let i = 0; i < 60; i++) type = { type: 'array', items: type }
    await put('deep', JSON.stringify(type))
    for (const [schemaType, schema] of [
      ['AVRO', `${'{"type":"array","items":'.repeat(5000)}"int"${'}'.repeat(5000)}`],
      ['JSON', `${'{"not":'.repeat(5000)}{}${'}'.repeat(5000)}`],
      ['PROTOBUF', `syntax = "proto3"; ${'message M {'.repeat(5000)}${'}'.repeat(5000)}`],
    ]) {
      expect((await b.call('POST subjects/x/versions', { schema, schemaType })).body.error_code).toBe(42201)
    }
  })
})

it('is there again after a start', async () => {
  const log = new MemoryLog()
  const first = await registryBench(log)
  await first.call('POST subjects/s/versions', { schema: A })
  await first.call('PUT config/s', { compatibility: 'FULL' })
  await first.engine.snapshot()
  await first.end()
  const second = await registryBench(new MemoryLog(log.disk))
  expect((await second.call('GET subjects/s/versions/1')).body).toMatchObject({ id: 1, schema: A_CANONICAL })
  expect((await second.call('GET config/s')).body).toEqual({ compatibilityLevel: 'FULL' })
  await second.end()
})
