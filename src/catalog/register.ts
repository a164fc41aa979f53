import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TopicSettings } from '../base/config/topicSettings.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { TopicView } from '../metadata/view.ts'
import type { ObjectStore } from '../storage/store.ts'
import type { Loads } from '../tables/convert/loads.ts'
import { parseJson } from '../tables/iceberg/json.ts'
import type { Publisher } from '../tables/iceberg/publisher.ts'
import { commitTable } from './commit.ts'
import { Directory, page } from './directory.ts'
import { badRequest, CatalogError, errorAnswer, forbidden } from './errors.ts'
import { etagOf, loadBody, matches, type SnapshotsMode } from './load.ts'

export interface CatalogOptions {
  readonly metadata: Metadata
  readonly publisher: Publisher
  readonly loads: Loads
  readonly store: ObjectStore
  readonly settings: (topic: TopicView) => TopicSettings
  readonly logger: Logger
  /** Properties of Iceberg's file IO that lead engines to the files; none on a folder. */
  readonly fileIo?: Readonly<Record<string, string>>
}

interface TableParams {
  readonly namespace: string
  readonly table: string
}

/** Exactly what is served: clients ask for nothing else (REST spec, config). */
export const ENDPOINTS = [
  'GET /v1/{prefix}/namespaces',
  'GET /v1/{prefix}/namespaces/{namespace}',
  'HEAD /v1/{prefix}/namespaces/{namespace}',
  'GET /v1/{prefix}/namespaces/{namespace}/tables',
  'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'HEAD /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}',
  'POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics',
] as const

/** What clients may try although it is not advertised, and why it is refused. */
const REFUSED: readonly (readonly ['POST' | 'DELETE', string, string])[] = [
  ['POST', '/v1/namespaces', 'namespaces come from the topic config table.namespace'],
  ['DELETE', '/v1/namespaces/:namespace', 'a namespace goes with its last table'],
  ['POST', '/v1/namespaces/:namespace/properties', 'namespaces have no properties'],
  ['POST', '/v1/namespaces/:namespace/tables', 'tables come from topics: create a topic'],
  ['POST', '/v1/namespaces/:namespace/register', 'tables come from topics: create a topic'],
  ['POST', '/v1/tables/rename', 'a topic’s table keeps its name: see the topic config table.name'],
  ['POST', '/v1/transactions/commit', 'topic tables are committed one at a time'],
]

/**
 * Mounts the Iceberg REST catalog (open-api/rest-catalog-open-api.yaml) on `app`, below whatever prefix it has. Loads
 * bring what was acknowledged into the table first (P7, T9); HEAD and lists never do.
 */
export function registerCatalog(app: FastifyInstance, options: CatalogOptions): void {
  const { loads, logger, metadata, publisher, store } = options
  const fileIo = options.fileIo ?? {}
  const directory = new Directory({ state: metadata.state, settings: options.settings })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, body === '' ? null : parseJson(String(body)))
    } catch (error) {
      done(badRequest(`the body is no JSON: ${(error as Error).message}`))
    }
  })
  app.setErrorHandler((error, _request, reply) => {
    const { status, body } = errorAnswer(error)
    if (status >= 500) logger.error({ err: error }, 'a catalog request failed')
    return reply.code(status).send(body)
  })
  app.setNotFoundHandler((request, reply) => {
    const { status, body } = errorAnswer(new CatalogError(404, 'NotFoundException', `${request.method} ${request.url} is not served`))
    return reply.code(status).send(body)
  })

  // exposeHeadRoute would answer HEAD by loading, and so by flushing.
  const quiet = { exposeHeadRoute: false }
  app.get('/v1/config', quiet, async () => ({ defaults: fileIo, overrides: {}, endpoints: ENDPOINTS }))

  app.get<{ Querystring: { parent?: string; pageToken?: string; pageSize?: string } }>('/v1/namespaces', quiet, async ({ query }) => {
    if (query.parent !== undefined && query.parent !== '') {
      directory.namespace(query.parent)
      return { namespaces: [], 'next-page-token': null }
    }
    const found = page(directory.namespaces(), query)
    return { namespaces: found.items.map((name) => [name]), 'next-page-token': found.nextPageToken }
  })
  app.get<{ Params: { namespace: string } }>('/v1/namespaces/:namespace', quiet, async ({ params }) => ({
    namespace: [directory.namespace(params.namespace)],
    properties: {},
  }))
  app.head<{ Params: { namespace: string } }>('/v1/namespaces/:namespace', async ({ params }, reply) => {
    directory.namespace(params.namespace)
    return reply.code(204).send()
  })

  app.get<{ Params: { namespace: string }; Querystring: { pageToken?: string; pageSize?: string } }>(
    '/v1/namespaces/:namespace/tables',
    quiet,
    async ({ params, query }) => {
      const namespace = directory.namespace(params.namespace)
      const found = page(directory.tables(namespace), query)
      return { identifiers: found.items.map((name) => ({ namespace: [namespace], name })), 'next-page-token': found.nextPageToken }
    },
  )

  const load = async (
    request: FastifyRequest<{ Params: TableParams; Querystring: { snapshots?: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const { params, query } = request
    const mode = (query.snapshots ?? 'all') as SnapshotsMode
    if (mode !== 'all' && mode !== 'refs') throw badRequest(`snapshots must be all or refs, not ${String(query.snapshots)}`)
    const { topic } = directory.table(params.namespace, params.table)
    const lag = topic === null ? { records: 0, ms: 0 } : await loads.flush(topic)
    const { table } = directory.table(params.namespace, params.table)
    const loaded = await publisher.load(table)
    if (loaded === null) throw new CatalogError(503, 'ServiceUnavailableException', `the table ${table.name} is not published yet`)
    publisher.leases.take(table.uuid, loaded.metadata['current-snapshot-id'])
    const etag = etagOf(loaded, mode)
    void reply.header('etag', etag)
    if (lag.records === 0 && matches(request.headers['if-none-match'], etag)) return reply.code(304).send()
    return reply.type('application/json').send(loadBody(loaded, store.uri(loaded.metadataKey), table.publication, lag, mode, fileIo))
  }
  app.get('/v1/namespaces/:namespace/tables/:table', quiet, load)
  app.head<{ Params: TableParams }>('/v1/namespaces/:namespace/tables/:table', async ({ params }, reply) => {
    directory.table(params.namespace, params.table)
    return reply.code(204).send()
  })
  app.post<{ Params: TableParams; Body: unknown }>('/v1/namespaces/:namespace/tables/:table', async ({ params, body }, reply) => {
    const { table, topic } = directory.table(params.namespace, params.table)
    if (topic === null) throw forbidden(`the topic of ${table.name} was deleted: its table is kept as it is`)
    const loaded = await commitTable(publisher, topic, body)
    return reply
      .type('application/json')
      .send(`{"metadata-location":${JSON.stringify(store.uri(loaded.metadataKey))},"metadata":${loaded.text}}`)
  })
  app.delete<{ Params: TableParams }>('/v1/namespaces/:namespace/tables/:table', async ({ params }, reply) => {
    const { table, topic } = directory.table(params.namespace, params.table)
    if (topic !== null) throw forbidden(`the table ${table.name} belongs to the topic ${topic.name}: delete the topic`)
    const result = await metadata.propose({ kind: 'dropTable', tableUuid: table.uuid })
    if (result.kind === 'refused') throw forbidden(result.reason)
    return reply.code(204).send()
  })
  app.post('/v1/namespaces/:namespace/tables/:table/metrics', async (_request, reply) => reply.code(204).send())

  for (const [method, url, why] of REFUSED) {
    app.route({ method, url, handler: async () => Promise.reject(forbidden(`This catalog does not do that: ${why}.`)) })
  }
}
