import type { FastifyInstance } from 'fastify'
import { noSubjectConfig, noSubjectMode, subjectNotFound } from '../registry/errors.ts'
import { DEFAULT_CONTEXT, formatSubject, GLOBAL_CONTEXT, parseContext, parseSubject, type SubjectName } from '../registry/names.ts'
import type { SchemaRegistry } from '../registry/registry.ts'
import { type Config, effectiveConfig, effectiveMode, ownConfig, ownMode, parseMode } from '../registry/settings.ts'
import { flag, objectOf, paged, type Query } from './requests.ts'

interface Route {
  Params: { context?: string; subject?: string }
  Querystring: Query
  Body: unknown
}

/** A subject or context; neither is the default context, whose settings hold for all others too. */
function scopeOf({ context, subject }: Route['Params']): SubjectName {
  const within = context === undefined ? DEFAULT_CONTEXT : parseContext(context)
  return subject === undefined ? { context: within, subject: '' } : parseSubject(subject, within)
}

const isTop = (name: SubjectName): boolean => name.subject === '' && (name.context === DEFAULT_CONTEXT || name.context === GLOBAL_CONTEXT)

/** PUT answers with the name of the request's field. */
const echoed = ({ compatibilityLevel, ...rest }: Config): Record<string, unknown> => ({
  ...(compatibilityLevel === undefined ? {} : { compatibility: compatibilityLevel }),
  ...rest,
})

export function settingsRoutes(app: FastifyInstance, prefix: string, registry: SchemaRegistry): void {
  const { store, writes } = registry
  for (const tail of ['', '/:subject']) {
    const config = `${prefix}/config${tail}`
    app.get<Route>(config, async ({ params, query }) => {
      await store.metadata.barrier()
      const name = scopeOf(params)
      const own = ownConfig(store.view, name)
      if (own === null && !isTop(name) && !flag(query, 'defaultToGlobal')) throw noSubjectConfig(formatSubject(name))
      return flag(query, 'defaultToGlobal') || isTop(name) ? effectiveConfig(store.view, name) : own
    })
    app.put<Route>(config, async ({ params, body }) => {
      const request = objectOf(body)
      const merged = await writes.putConfig(scopeOf(params), request)
      return echoed(Object.fromEntries(Object.entries(merged).filter(([name]) => name === 'compatibilityLevel' || name in request)))
    })
    app.delete<Route>(config, async ({ params }) => {
      await store.metadata.barrier()
      const name = scopeOf(params)
      const own = ownConfig(store.view, name)
      if (own === null && !isTop(name)) throw subjectNotFound(formatSubject(name))
      await writes.deleteConfig(name)
      return own ?? { compatibilityLevel: 'BACKWARD' }
    })

    const mode = `${prefix}/mode${tail}`
    app.get<Route>(mode, async ({ params, query }) => {
      await store.metadata.barrier()
      const name = scopeOf(params)
      const own = ownMode(store.view, name)
      if (own === null && !isTop(name) && !flag(query, 'defaultToGlobal')) throw noSubjectMode(formatSubject(name))
      return { mode: own ?? effectiveMode(store.view, name) }
    })
    app.put<Route>(mode, async ({ params, query, body }) => {
      const wanted = parseMode(objectOf(body).mode)
      await writes.putMode(scopeOf(params), wanted, flag(query, 'force'))
      return { mode: wanted }
    })
    app.delete<Route>(mode, async ({ params, query }) => {
      await store.metadata.barrier()
      const name = scopeOf(params)
      const own = ownMode(store.view, name)
      if (own === null && !isTop(name)) throw subjectNotFound(formatSubject(name))
      await writes.deleteMode(name)
      // those of the subjects inside as well
      if (flag(query, 'recursive') && name.subject === '')
        for (const { context, subject } of Array.from(store.view.allSettings()))
          if (context === name.context) await writes.deleteMode({ context, subject })
      return { mode: own ?? 'READWRITE' }
    })
  }
  if (prefix !== '') {
    app.delete<Route>(prefix, async ({ params }, reply) => {
      await writes.deleteContext(parseContext(params.context!))
      return reply.code(204).send()
    })
    return
  }
  app.get<Route>('/contexts', async ({ query }) => {
    await store.metadata.barrier()
    const names = new Set<string>([DEFAULT_CONTEXT])
    for (const { context } of store.view.subjects()) names.add(context)
    return paged([...names].sort(), query)
  })
}
