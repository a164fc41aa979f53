import fastify, { type FastifyInstance } from 'fastify'
import { silentLogger } from '../../../src/base/log.ts'
import { SUPPORTED_LEVEL } from '../../../src/metadata/apply/pods.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { registerSchemas } from '../../../src/schemas/api/register.ts'
import { SchemaRegistry } from '../../../src/schemas/registry/registry.ts'
import { open } from '../metadata/helpers.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'

export interface Answer {
  readonly status: number
  readonly type: string
  // oxlint-disable-next-line no-explicit-any
  readonly body: any
}

/** A registry on a metadata engine of its own, as HTTP. */
export interface RegistryBench {
  readonly engine: MetadataEngine
  readonly registry: SchemaRegistry
  readonly app: FastifyInstance
  /** `POST subjects/a/versions`, and a body. */
  call(request: string, body?: unknown): Promise<Answer>
  end(): Promise<void>
}

export async function registryBench(log = new MemoryLog()): Promise<RegistryBench> {
  const engine = await open(log, { level: SUPPORTED_LEVEL })
  const registry = new SchemaRegistry(engine)
  const app = fastify({ routerOptions: { maxParamLength: 1024 }, forceCloseConnections: true })
  await app.register(
    (child, _options, done) => {
      registerSchemas(child, { registry, logger: silentLogger, clusterId: () => engine.state.clusterId })
      done()
    },
    { prefix: '/schemas' },
  )
  return {
    engine,
    registry,
    app,
    async call(request, body) {
      const [method, path] = request.split(' ')
      const answer = await app.inject({
        method: method as 'GET',
        url: `/schemas/${path}`,
        headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const text = answer.body
      return { status: answer.statusCode, type: String(answer.headers['content-type']), body: text === '' ? null : JSON.parse(text) }
    },
    async end() {
      await app.close()
      await registry.close()
      await engine.close()
    },
  }
}

export const record = (...fields: object[]): string => JSON.stringify({ type: 'record', name: 'R', namespace: 'n', fields })
export const field = (name: string, type: unknown = 'int', more: object = {}): object => ({ name, type, ...more })
