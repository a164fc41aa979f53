import fastify, { type FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { topicSettings } from '../../../src/base/config/topicSettings.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { ENDPOINTS, registerCatalog } from '../../../src/catalog/register.ts'
import { bench, type Bench } from '../tables/harness.ts'

let b: Bench
let app: FastifyInstance

beforeEach(async () => {
  b = await bench()
  app = fastify({ routerOptions: { maxParamLength: 1024 } })
  await app.register(
    (child, _options, done) => {
      registerCatalog(child, {
        metadata: b.engine,
        publisher: b.tables.publisher,
        loads: b.tables.loads,
        store: b.store,
        settings: (topic) => topicSettings(topic, { own: () => undefined }),
        logger: silentLogger,
      })
      done()
    },
    { prefix: '/iceberg' },
  )
})
afterEach(async () => {
  await app.close()
  await b.end()
})

interface Answer {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly body: any
}

async function call(
  method: 'GET' | 'HEAD' | 'POST' | 'DELETE',
  path: string,
  options: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const answer = await app.inject({
    method,
    url: `/iceberg/v1/${path}`,
    headers: { 'content-type': 'application/json', ...options.headers },
    ...(options.body === undefined ? {} : { payload: typeof options.body === 'string' ? options.body : JSON.stringify(options.body) }),
  })
  return { status: answer.statusCode, headers: answer.headers, body: answer.body === '' ? null : JSON.parse(answer.body) }
}

const TABLE = 'namespaces/default/tables/t'
const update = (...updates: object[]): { body: object } => ({ body: { requirements: [], updates } })

describe('the catalog', () => {
  it('advertises exactly what it serves', async () => {
    const { body } = await call('GET', 'config?warehouse=x')
    expect(body).toEqual({ defaults: {}, overrides: {}, endpoints: [...ENDPOINTS] })
    await b.topic('t')
    for (const endpoint of ENDPOINTS) {
      const [method, path] = endpoint.split(' ') as ['GET' | 'HEAD' | 'POST' | 'DELETE', string]
      const url = path.replace('/v1/{prefix}/', '').replace('{namespace}', 'default').replace('{table}', 't')
      const { status, body } = await call(method, url, method === 'POST' ? { body: {} } : {})
      expect([endpoint, status === 404, body?.error?.type === 'NotFoundException']).toEqual([endpoint, false, false])
    }
  })

  it('lists namespaces and published tables, in pages', async () => {
    for (const name of ['b', 'a', 'c', 'x-changelog']) await b.topic(name)
    await b.topic('hidden', 1, { 'table.enable': 'false' })
    expect((await call('GET', 'namespaces')).body.namespaces).toEqual([['default']])
    expect((await call('GET', 'namespaces/default')).body).toEqual({ namespace: ['default'], properties: {} })
    const names = (body: any): string[] => body.identifiers.map((one: any) => one.name)
    expect(names((await call('GET', 'namespaces/default/tables')).body)).toEqual(['a', 'b', 'c'])
    const first = (await call('GET', 'namespaces/default/tables?pageSize=2')).body
    expect(names(first)).toEqual(['a', 'b'])
    const second = (await call('GET', `namespaces/default/tables?pageSize=2&pageToken=${first['next-page-token']}`)).body
    expect([names(second), second['next-page-token']]).toEqual([['c'], null])
    expect((await call('GET', 'namespaces/default/tables?pageSize=0')).status).toBe(400)
    expect((await call('GET', 'namespaces?parent=default')).body.namespaces).toEqual([])
    expect((await call('GET', 'namespaces?parent=none')).status).toBe(404)
  })

  it('answers what does not exist as clients expect', async () => {
    const table = await call('GET', 'namespaces/default/tables/none')
    expect([table.status, table.body.error]).toEqual([
      404,
      { message: 'Table does not exist: default.none', type: 'NoSuchTableException', code: 404 },
    ])
    const namespace = await call('GET', 'namespaces/none/tables')
    expect([namespace.status, namespace.body.error.type]).toEqual([404, 'NoSuchNamespaceException'])
    const levels = await call('GET', 'namespaces/a%1Fb')
    expect([levels.status, levels.body.error.message]).toEqual([404, 'Namespace does not exist: a.b'])
    expect((await call('GET', 'namespaces/a%1Fb/tables/t')).body.error.type).toBe('NoSuchTableException')
    expect((await call('HEAD', 'namespaces/none')).status).toBe(404)
    expect((await call('HEAD', 'namespaces/default')).status).toBe(204)
    expect((await call('GET', 'views')).status).toBe(404)
  })

  it('loads what was acknowledged, with its lag; HEAD and list flush nothing', async () => {
    const topic = await b.topic('t')
    await b.produce(topic, 0, ['a', 'b'])
    expect((await call('HEAD', TABLE)).status).toBe(204)
    await call('GET', 'namespaces/default/tables')
    expect(b.table(topic).publication).toBe(0)
    const { body } = await call('GET', TABLE)
    expect(body.metadata.snapshots.at(-1).summary['total-records']).toBe('2')
    expect(body.config).toMatchObject({ 'frazil.publication': '1', 'frazil.lag-records': '0', 'frazil.lag-ms': '0' })
    expect(body['metadata-location']).toBe(b.store.uri(b.table(topic).metadataKey))
  })

  it('knows unchanged tables by their ETag', async () => {
    const topic = await b.topic('t')
    const first = await call('GET', TABLE)
    const etag = String(first.headers['etag'])
    expect((await call('GET', TABLE, { headers: { 'if-none-match': etag } })).status).toBe(304)
    expect((await call('GET', `${TABLE}?snapshots=refs`, { headers: { 'if-none-match': etag } })).status).toBe(200)
    await b.produce(topic, 0, ['a'])
    expect((await call('GET', TABLE, { headers: { 'if-none-match': etag } })).status).toBe(200)
  })

  it('shows only snapshots that refs name, when asked', async () => {
    const topic = await b.topic('t')
    await call('GET', TABLE)
    await b.produce(topic, 0, ['a'])
    expect((await call('GET', `${TABLE}?snapshots=all`)).body.metadata.snapshots).toHaveLength(2)
    const { metadata } = (await call('GET', `${TABLE}?snapshots=refs`)).body
    expect(metadata.snapshots.map((one: any) => one['snapshot-id'])).toEqual([metadata['current-snapshot-id']])
    expect((await call('GET', `${TABLE}?snapshots=some`)).status).toBe(400)
  })

  it('takes properties, not protected ones', async () => {
    await b.topic('t')
    const set = await call('POST', TABLE, update({ action: 'set-properties', updates: { owner: 'me', 'gc.enabled': 'false' } }))
    expect([set.status, set.body.metadata.properties['owner']]).toEqual([200, 'me'])
    const removed = await call('POST', TABLE, update({ action: 'remove-properties', removals: ['owner'] }))
    expect(removed.body.metadata.properties).not.toHaveProperty('owner')
    for (const wrong of [
      { action: 'set-properties', updates: { 'gc.enabled': 'true' } },
      { action: 'set-properties', updates: { 'frazil.topic': 'x' } },
      { action: 'remove-properties', removals: ['gc.enabled'] },
    ]) {
      const { status, body } = await call('POST', TABLE, update(wrong))
      expect([status, body.error.type]).toEqual([403, 'ForbiddenException'])
    }
    expect((await call('POST', TABLE, update({ action: 'set-properties', updates: { a: 1 } }))).status).toBe(400)
  })

  it('takes tags and branches on complete snapshots, never main', async () => {
    const topic = await b.topic('t')
    await b.produce(topic, 0, ['a'])
    const id = (await call('GET', TABLE)).body.metadata['current-snapshot-id']
    const tagged = await call('POST', TABLE, update({ action: 'set-snapshot-ref', 'ref-name': 'v1', type: 'tag', 'snapshot-id': id }))
    expect(tagged.body.metadata.refs.v1).toEqual({ 'snapshot-id': id, type: 'tag' })
    const main = await call('POST', TABLE, update({ action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': id }))
    expect(main.status).toBe(403)
    expect((await call('POST', TABLE, update({ action: 'remove-snapshot-ref', 'ref-name': 'main' }))).status).toBe(403)
    const none = await call('POST', TABLE, update({ action: 'set-snapshot-ref', 'ref-name': 'v2', type: 'tag', 'snapshot-id': 12345 }))
    expect(none.status).toBe(400)
    const held = await call('POST', TABLE, update({ action: 'remove-snapshots', 'snapshot-ids': [id] }))
    expect(held.status).toBe(403)
    const gone = await call('POST', TABLE, update({ action: 'remove-snapshot-ref', 'ref-name': 'v1' }))
    expect(gone.body.metadata.refs).not.toHaveProperty('v1')
  })

  it('removes snapshots from the metadata alone', async () => {
    const topic = await b.topic('t')
    const old = (await call('GET', TABLE)).body.metadata['current-snapshot-id']
    await b.produce(topic, 0, ['a'])
    await call('GET', TABLE)
    const { body } = await call('POST', TABLE, update({ action: 'remove-snapshots', 'snapshot-ids': [old] }))
    expect(body.metadata.snapshots.map((one: any) => one['snapshot-id'])).not.toContain(old)
    expect([...b.engine.state.deletions()].some((one) => one.key.endsWith('.parquet'))).toBe(false)
  })

  it('checks requirements: 409 when the table is another, 400 when they are unknown', async () => {
    await b.topic('t')
    const { metadata } = (await call('GET', TABLE)).body
    const check = async (requirement: object): Promise<number> =>
      (await call('POST', TABLE, { body: { requirements: [requirement], updates: [{ action: 'set-properties', updates: { a: 'b' } }] } }))
        .status
    expect(await check({ type: 'assert-table-uuid', uuid: metadata['table-uuid'] })).toBe(200)
    expect(await check({ type: 'assert-table-uuid', uuid: 'other' })).toBe(409)
    expect(await check({ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': metadata['current-snapshot-id'] })).toBe(200)
    expect(await check({ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': 1 })).toBe(409)
    expect(await check({ type: 'assert-ref-snapshot-id', ref: 'x', 'snapshot-id': null })).toBe(200)
    expect(await check({ type: 'assert-ref-snapshot-id', ref: 'x', 'snapshot-id': -1 })).toBe(200)
    expect(await check({ type: 'assert-create' })).toBe(409)
    expect(await check({ type: 'assert-current-schema-id', 'current-schema-id': 0 })).toBe(200)
    expect(await check({ type: 'assert-last-assigned-field-id', 'last-assigned-field-id': 99 })).toBe(409)
    expect(await check({ type: 'assert-mood' })).toBe(400)
  })

  it('refuses every other write with a sentence', async () => {
    await b.topic('t')
    for (const action of ['add-snapshot', 'add-schema', 'set-location', 'upgrade-format-version', 'add-spec', 'set-statistics']) {
      const { status, body } = await call('POST', TABLE, update({ action }))
      expect([action, status, body.error.type]).toEqual([action, 403, 'ForbiddenException'])
      expect(body.error.message).toMatch(/ .*\.$/)
    }
    expect((await call('POST', TABLE, update({ action: 'dance' }))).status).toBe(400)
    expect((await call('POST', TABLE, { body: '{"updates":' })).status).toBe(400)
    expect((await call('POST', TABLE, { body: '[]' })).status).toBe(200)
    expect((await call('POST', TABLE, { body: { updates: 'x' } })).status).toBe(400)
    expect((await call('POST', 'namespaces', { body: {} })).status).toBe(403)
    expect((await call('POST', 'namespaces/default/tables', { body: {} })).status).toBe(403)
    expect((await call('POST', `${TABLE}/metrics`, { body: {} })).status).toBe(204)
  })

  it('drops kept tables only', async () => {
    const topic = await b.topic('t')
    await b.produce(topic, 0, ['a'])
    expect((await call('DELETE', TABLE)).status).toBe(403)
    await b.remove(topic, 't_deleted')
    const { identifiers } = (await call('GET', 'namespaces/default/tables')).body
    expect(identifiers[0].name).toBe('t_deleted')
    const kept = `namespaces/default/tables/${identifiers[0].name}`
    expect((await call('GET', kept)).body.metadata.snapshots.at(-1).summary['total-records']).toBe('1')
    expect((await call('POST', kept, update({ action: 'set-properties', updates: { a: 'b' } }))).status).toBe(403)
    expect((await call('DELETE', `${kept}?purgeRequested=true`)).status).toBe(204)
    expect((await call('GET', kept)).status).toBe(404)
  })

  it('gives a topic that is made anew a table of its own', async () => {
    const old = await b.topic('t')
    await b.produce(old, 0, ['a'])
    const before = (await call('GET', TABLE)).body.metadata
    await b.remove(old, 't_old')
    const fresh = await b.topic('t')
    expect(b.table(fresh).location).not.toBe(before.location)
    const after = (await call('GET', TABLE)).body.metadata
    expect(after['table-uuid']).not.toBe(before['table-uuid'])
    expect(after.snapshots.at(-1).summary['total-records']).toBe('0')
  })
})
