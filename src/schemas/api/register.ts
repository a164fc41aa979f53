import type { FastifyInstance } from 'fastify'
import type { Logger } from '../../base/log.ts'
import { badRequest, RegistryError } from '../registry/errors.ts'
import type { SchemaRegistry } from '../registry/registry.ts'
import { errorAnswer } from './answers.ts'
import { compatibilityRoutes } from './compatibility.ts'
import { schemaRoutes } from './schemas.ts'
import { settingsRoutes } from './settings.ts'
import { subjectRoutes } from './subjects.ts'

export interface RegistryApiOptions {
  readonly registry: SchemaRegistry
  readonly logger: Logger
  readonly clusterId: () => string
}

export const CONTENT_TYPE = 'application/vnd.schemaregistry.v1+json'
/** JSON text of a schema at the limit, with every quote escaped. */
const BODY_MAX_BYTES = 24 * 1024 * 1024

/** Mounts the Schema Registry API on `app`, below whatever prefix it has; `/contexts/<context>/…` is all of it in a context. */
export function registerSchemas(app: FastifyInstance, options: RegistryApiOptions): void {
  app.removeAllContentTypeParsers()
  const types = [CONTENT_TYPE, 'application/vnd.schemaregistry+json', 'application/json', 'application/octet-stream']
  app.addContentTypeParser(types, { parseAs: 'string', bodyLimit: BODY_MAX_BYTES }, (_request, body, done) => {
    try {
      done(null, body === '' ? null : JSON.parse(String(body)))
    } catch (error) {
      done(badRequest(`the body is no JSON: ${(error as Error).message}`))
    }
  })
  app.setErrorHandler((error, _request, reply) => {
    const { status, body } = errorAnswer(error)
    if (status >= 500) options.logger.warn({ err: error }, 'a schema registry request failed')
    return reply.code(status).type(CONTENT_TYPE).send(JSON.stringify(body))
  })
  app.setNotFoundHandler(() => {
    throw new RegistryError(404, 404, 'HTTP 404 Not Found')
  })
  app.addHook('onSend', async (_request, reply, payload) => {
    // a text is sent as it is
    if (String(reply.getHeader('content-type') ?? '').startsWith('application/json')) void reply.type(CONTENT_TYPE)
    return payload
  })
  for (const prefix of ['', '/contexts/:context']) {
    subjectRoutes(app, prefix, options.registry)
    schemaRoutes(app, prefix, options.registry)
    compatibilityRoutes(app, prefix, options.registry)
    settingsRoutes(app, prefix, options.registry)
  }
  app.get('/', async () => ({}))
  app.get('/v1/metadata/id', async () => ({
    scope: { path: [], clusters: { 'kafka-cluster': options.clusterId(), 'schema-registry-cluster': 'schema-registry' } },
    id: options.clusterId(),
  }))
  app.get('/v1/metadata/version', async () => ({ version: 'frazil', commitId: '' }))
}
