import type { FastifyInstance } from 'fastify'
import type { SchemaVersion } from '../../metadata/view.ts'
import { guidOf } from '../registry/body.ts'
import { schemaNotFound, subjectNotFound, versionNotFound } from '../registry/errors.ts'
import { DEFAULT_CONTEXT, formatSubject, parseContext, parseRealSubject, parseSubject, type SubjectName } from '../registry/names.ts'
import type { SchemaRegistry } from '../registry/registry.ts'
import { effectiveConfig } from '../registry/settings.ts'
import { bodyFields, formatted, sendText, versionAnswer } from './answers.ts'
import { flag, paged, parseSchemaRequest, parseVersion, type Query, text } from './requests.ts'

export interface SubjectRoute {
  Params: { context?: string; subject: string }
  Querystring: Query
  Body: unknown
}
export interface VersionRoute {
  Params: { context?: string; subject: string; version: string }
  Querystring: Query
  Body: unknown
}

/** The subject of a path; an alias stands for another one. */
export function subjectOf(registry: SchemaRegistry, params: { context?: string; subject: string }): SubjectName {
  const within = params.context === undefined ? DEFAULT_CONTEXT : parseContext(params.context)
  const name = parseRealSubject(params.subject, within)
  const { alias } = effectiveConfig(registry.store.view, name)
  return alias === undefined || alias === '' ? name : parseRealSubject(alias, name.context)
}

/** A version of a subject; -1 is the latest. Errors: 40401, 40402. */
export async function findVersion(registry: SchemaRegistry, name: SubjectName, version: number, deleted: boolean): Promise<SchemaVersion> {
  await registry.store.metadata.barrier()
  const versions = registry.store.versions(name, deleted)
  const found = version < 0 ? versions.at(-1) : versions.find((known) => known.version === version)
  if (found !== undefined) return found
  if (versions.length === 0) throw subjectNotFound(formatSubject(name))
  throw versionNotFound(version)
}

export function subjectRoutes(app: FastifyInstance, prefix: string, registry: SchemaRegistry): void {
  const { store, writes } = registry
  const at = `${prefix}/subjects`

  app.get<{ Params: { context?: string }; Querystring: Query }>(at, async ({ params, query }) => {
    await store.metadata.barrier()
    const given = text(query, 'subjectPrefix')
    const wanted = given ?? (params.context === undefined ? ':*:' : '')
    const all = wanted.startsWith(':*:')
    const { context, subject } = all
      ? { context: '', subject: wanted.slice(3) }
      : parseSubject(wanted, params.context === undefined ? DEFAULT_CONTEXT : parseContext(params.context))
    const only = flag(query, 'deletedOnly')
    const found = [...store.view.subjects()]
      .filter((row) => (all || row.context === context) && row.subject.startsWith(subject))
      .filter(({ versions }) => {
        const live = versions.some(({ deleted }) => !deleted)
        return only ? !live : live || flag(query, 'deleted')
      })
      .map(formatSubject)
      .sort()
    return paged(found, query)
  })

  app.post<SubjectRoute>(`${at}/:subject`, async ({ params, query, body }) => {
    await store.metadata.barrier()
    const name = subjectOf(registry, params)
    const versions = store.versions(name, flag(query, 'deleted'))
    if (versions.length === 0) throw subjectNotFound(formatSubject(name))
    const normalize = flag(query, 'normalize') || effectiveConfig(store.view, name).normalize === true
    const guid = guidOf(await writes.bodyOf(name, parseSchemaRequest(body), normalize))
    const found = versions.findLast((version) => store.contentOf(name, version).guid === guid)
    if (found === undefined) throw schemaNotFound()
    return versionAnswer(registry, name, found, text(query, 'format'))
  })

  app.delete<SubjectRoute>(`${at}/:subject`, ({ params, query }) =>
    writes.deleteSubject(subjectOf(registry, params), flag(query, 'permanent')),
  )

  app.get<SubjectRoute>(`${at}/:subject/metadata`, async ({ params, query }) => {
    await store.metadata.barrier()
    const name = subjectOf(registry, params)
    const versions = store.versions(name, flag(query, 'deleted'))
    if (versions.length === 0) throw subjectNotFound(formatSubject(name))
    const keys = [query.key ?? []].flat()
    const values = [query.value ?? []].flat()
    const found = versions.findLast((version) => {
      const { metadata } = store.body(store.contentOf(name, version))
      const properties = (metadata as { properties?: Record<string, unknown> } | undefined)?.properties ?? {}
      return keys.every((key, i) => Object.hasOwn(properties, key) && properties[key] === values[i])
    })
    if (found === undefined) throw schemaNotFound()
    return versionAnswer(registry, name, found, text(query, 'format'))
  })

  app.get<SubjectRoute>(`${at}/:subject/versions`, async ({ params, query }) => {
    await store.metadata.barrier()
    const name = subjectOf(registry, params)
    const negative = flag(query, 'deletedAsNegative')
    const only = flag(query, 'deletedOnly')
    const versions = store.versions(name, negative || only || flag(query, 'deleted')).filter(({ deleted }) => deleted || !only)
    if (versions.length === 0) throw subjectNotFound(formatSubject(name))
    return paged(
      versions.map(({ version, deleted }) => (negative && deleted ? -version : version)),
      query,
    )
  })

  app.post<SubjectRoute>(`${at}/:subject/versions`, async ({ params, query, body }) => {
    const name = subjectOf(registry, params)
    const registered = await writes.register(name, parseSchemaRequest(body), flag(query, 'normalize'))
    const { id, version, guid } = registered
    const shown = await formatted(registry, store.view.content(name.context, id)!, text(query, 'format'))
    return { id, version, guid, ...bodyFields(shown) }
  })

  app.get<VersionRoute>(`${at}/:subject/versions/:version`, async ({ params, query }) => {
    const name = subjectOf(registry, params)
    const version = await findVersion(registry, name, parseVersion(params.version), flag(query, 'deleted'))
    return versionAnswer(registry, name, version, text(query, 'format'))
  })

  app.get<VersionRoute>(`${at}/:subject/versions/:version/schema`, async ({ params, query }, reply) => {
    const name = subjectOf(registry, params)
    const version = await findVersion(registry, name, parseVersion(params.version), flag(query, 'deleted'))
    const { schema } = await formatted(registry, store.contentOf(name, version), text(query, 'format'))
    return sendText(reply, schema)
  })

  app.get<VersionRoute>(`${at}/:subject/versions/:version/referencedby`, async ({ params, query }) => {
    const name = subjectOf(registry, params)
    const { version } = await findVersion(registry, name, parseVersion(params.version), true)
    const deleted = flag(query, 'deleted')
    const found = [...store.view.referrers(name.context, name.subject, version)].filter(({ liveUses }) => deleted || liveUses > 0)
    return paged(
      found.map(({ id }) => id).sort((a, b) => a - b),
      query,
    )
  })

  app.delete<VersionRoute>(`${at}/:subject/versions/:version`, ({ params, query }) =>
    writes.deleteVersion(subjectOf(registry, params), parseVersion(params.version), flag(query, 'permanent')),
  )
}
