import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseAddress } from '../../../src/schemas/remote/client.ts'
import { RemoteSchemaSource } from '../../../src/schemas/remote/remoteSource.ts'
import { field, record, registryBench } from './harness.ts'

/** A registry that says what it is told to. */
let server: Server
let asked: string[] = []
let answer: (request: IncomingMessage) => { readonly status: number; readonly body: string }
let url: string
beforeEach(async () => {
  asked = []
  server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization ?? ''}`.trim())
    const { status, body } = answer(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(() => void server.close())

const source = (setting = url): RemoteSchemaSource => new RemoteSchemaSource(parseAddress(setting, '', ''))
const ok = (body: object) => ({ status: 200, body: JSON.stringify(body) })
const away = { code: 'SCHEMA_REGISTRY_UNAVAILABLE' }

describe('an outside registry', () => {
  it('Frazil’s own, asked from outside: schemas with references, by id, guid and subject', async () => {
    const b = await registryBench()
    const outside = source(`${await b.app.listen({ host: '127.0.0.1', port: 0 })}/schemas/`)
    await b.call('POST subjects/inner/versions', { schema: '{"type":"record","name":"n.Inner","fields":[]}' })
    const references = [{ name: 'n.Inner', subject: 'inner', version: 1 }]
    await b.call('POST subjects/outer/versions', { schema: record(field('x', 'n.Inner')), references })
    await b.call('POST subjects/:.c:s/versions', { schema: '"int"' })
    const own = await b.registry.source.byId(2)
    expect(await outside.byId(2)).toEqual(own)
    expect(await outside.latest('outer')).toEqual(await b.registry.source.latest('outer'))
    expect(await outside.byId(1, ':.c:s')).toMatchObject({ schema: '"int"' })
    expect((await outside.byGuid(own!.guid))?.references).toEqual(own!.references)
    expect([await outside.byId(99), await outside.byGuid(own!.guid.replace('8', '7')), await outside.latest('nobody')]).toEqual([
      null,
      null,
      null,
    ])
    await b.end()
  })

  it('is asked once for an id, also by many at once, and not again after it answered', async () => {
    answer = () => ok({ schema: '"int"' })
    const outside = source()
    await Promise.all([outside.byId(1), outside.byId(1), outside.byId(1)])
    await outside.byId(1)
    expect(asked).toEqual(['/schemas/ids/1'])
    answer = () => ({ status: 404, body: '{"error_code":40403,"message":"no"}' })
    expect([await outside.byId(2), await outside.byId(2)]).toEqual([null, null])
    expect(asked).toHaveLength(3)
  })

  it('that is away, or no registry, is told apart from one that has no such id', async () => {
    const outside = source()
    for (const body of ['', 'not found', '{}', '[]', '{"error_code":404,"message":"HTTP 404 Not Found"}']) {
      answer = () => ({ status: 404, body })
      await expect(outside.byId(1)).rejects.toMatchObject(away)
    }
    for (const status of [301, 401, 403, 429, 500, 503]) {
      answer = () => ({ status, body: '{"error_code":50001,"message":"x"}' })
      await expect(outside.byId(1)).rejects.toMatchObject(away)
    }
    for (const body of [{}, { schema: 5 }, { schema: 'x', schemaType: 'XML' }, { schema: 'x', references: [{}] }]) {
      answer = () => ok(body)
      await expect(outside.byId(1)).rejects.toMatchObject(away)
    }
    answer = () => ({ status: 404, body: '{"error_code":40403,"message":"no"}' })
    expect(await outside.byId(1)).toBeNull()
    server.close()
    server.closeAllConnections()
    await expect(outside.byId(1)).rejects.toMatchObject({ ...away, message: expect.stringContaining('cannot be reached') })
  })

  it('takes basic authentication from the URL or from settings, and keeps it out of messages', async () => {
    answer = () => ({ status: 401, body: '{"error_code":401,"message":"no"}' })
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
    const secret = url.replace('//', '//ada:p%40ss@')
    await expect(source(secret).byId(1)).rejects.toMatchObject({ message: expect.not.stringContaining('ss') })
    await expect(new RemoteSchemaSource(parseAddress(secret, 'eve', 'word')).byId(1)).rejects.toMatchObject(away)
    expect(asked).toEqual([`/schemas/ids/1 ${basic('ada:p@ss')}`, `/schemas/ids/1 ${basic('eve:word')}`])
    for (const wrong of ['', 'registry:8081', 'ftp://x', 'nothing'])
      expect(() => parseAddress(wrong, '', '')).toThrow(expect.objectContaining({ code: 'SETTING_INVALID' }))
  })

  it('whose references lead nowhere has a broken schema, and one with an endless answer is away', async () => {
    answer = ({ url: path }) =>
      path === '/schemas/ids/1'
        ? ok({ schema: '"int"', references: [{ name: 'a', subject: 's', version: 1 }] })
        : { status: 404, body: '{"error_code":40401,"message":"no"}' }
    await expect(source().byId(1)).rejects.toMatchObject({ code: 'SCHEMA_INVALID' })
    answer = () => ({ status: 200, body: `"${'x'.repeat(33 * 1024 * 1024)}"` })
    await expect(source().byId(1)).rejects.toMatchObject({ ...away, message: expect.stringContaining('more than') })
  })
})
