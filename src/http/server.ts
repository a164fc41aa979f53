import { createServer } from 'node:net'
import fastify, { type FastifyInstance } from 'fastify'
import type { Registry } from 'prom-client'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'

export interface HttpOptions {
  readonly host: string
  readonly port: number
  readonly registry: Registry
  readonly logger: Logger
  /** null when ready, else one sentence that says what is missing. */
  readonly notReady: () => string | null
  /** Further rooms' routes, by prefix. */
  readonly mounts: readonly { readonly prefix: string; readonly register: (app: FastifyInstance) => void }[]
}

export interface HttpServer {
  readonly port: number
  close(): Promise<void>
}

/** Starts the HTTP server: /metrics (Prometheus text), /health/live, /health/ready and what is mounted. Errors: SETTING_INVALID. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const app = fastify({ logger: false, forceCloseConnections: true, bodyLimit: 16 * 1024 * 1024, routerOptions: { maxParamLength: 1024 } })
  app.get('/metrics', async (_request, reply) => {
    const text = await options.registry.metrics()
    return reply.type(options.registry.contentType).send(text)
  })
  app.get('/health/live', async () => ({ status: 'live' }))
  app.get('/health/ready', async (_request, reply) => {
    const reason = options.notReady()
    if (reason === null) return { status: 'ready' }
    return reply.code(503).send({ status: 'not ready', reason })
  })
  for (const mount of options.mounts) {
    await app.register(
      (child, _options, done) => {
        mount.register(child)
        done()
      },
      { prefix: mount.prefix },
    )
  }
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500
    if (status >= 500) options.logger.error({ err: error }, 'an HTTP request failed')
    void reply.code(status).send({ error: { message: status >= 500 ? 'internal error' : error.message, type: 'Error', code: status } })
  })
  await untilFree(options.host, options.port)
  try {
    await app.listen({ host: options.host, port: options.port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EADDRINUSE' ? 'the address is in use' : message
    throw new FrazilError('SETTING_INVALID', `http: cannot listen on ${options.host}:${options.port}, ${why}`, error)
  }
  const address = app.server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : options.port, close: () => app.close() }
}

const BIND_TRIES = 20
const BIND_PAUSE_MS = 100

/** A process that was killed hard may hold its port for a moment; whoever else holds it is told by the listen that follows. */
async function untilFree(host: string, port: number): Promise<void> {
  for (let tries = 0; tries < BIND_TRIES; tries++) {
    const error = await new Promise<NodeJS.ErrnoException | null>((resolve) => {
      const probe = createServer()
      probe.once('error', resolve)
      probe.listen({ host, port }, () => probe.close(() => resolve(null)))
    })
    if (error?.code !== 'EADDRINUSE') return
    await new Promise((resolve) => setTimeout(resolve, BIND_PAUSE_MS))
  }
}
