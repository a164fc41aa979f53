import type { FastifyInstance } from 'fastify'
import type { SchemaContentView, SchemaSubjectView } from '../../metadata/view.ts'
import { schemaNotFound } from '../registry/errors.ts'
import { DEFAULT_CONTEXT, formatSubject, parseContext, parseSubject } from '../registry/names.ts'
import type { SchemaRegistry } from '../registry/registry.ts'
import { bodyFields, formatted, sendText, versionAnswer } from './answers.ts'
import { flag, paged, parseId, type Query, text } from './requests.ts'

interface IdRoute {
  Params: { context?: string; id: string }
  Querystring: Query
}
interface GuidRoute {
  Params: { guid: string }
  Querystring: Query
}

export function schemaRoutes(app: FastifyInstance, prefix: string, registry: SchemaRegistry): void {
  const { store } = registry
  const at = `${prefix}/schemas`

  const contextOf = (params: { context?: string }, query: Query): string => {
    const within = params.context === undefined ? DEFAULT_CONTEXT : parseContext(params.context)
    const subject = text(query, 'subject')
    return subject === undefined ? within : parseSubject(subject, within).context
  }

  /** What is not there is looked for again behind a barrier: another pod may have it already. Error: 40403. */
  const find = async (look: () => SchemaContentView | null, shown: string): Promise<SchemaContentView> => {
    let found = look()
    if (found === null) {
      await store.metadata.barrier()
      found = look()
    }
    if (found === null) throw schemaNotFound(shown)
    return found
  }
  const byId = ({ params, query }: { readonly params: IdRoute['Params']; readonly query: Query }): Promise<SchemaContentView> => {
    const id = parseId(params.id)
    return find(() => (id === null ? null : store.view.content(contextOf(params, query), id)), params.id)
  }
  const byGuid = (guid: string): Promise<SchemaContentView> =>
    find(() => {
      for (const context of store.view.contexts()) {
        const found = store.view.contentByGuid(context, guid.toLowerCase())
        if (found !== null) return found
      }
      return null
    }, guid)

  /** Subjects of the schema's context that have it, by name. */
  const users = (content: SchemaContentView, deleted: boolean): { row: SchemaSubjectView; version: number }[] =>
    [...store.view.subjects()]
      .filter((row) => row.context === content.context)
      .flatMap((row) =>
        row.versions
          .filter((version) => version.id === content.id && (deleted || !version.deleted))
          .map(({ version }) => ({ row, version })),
      )
      .sort((a, b) => (a.row.subject < b.row.subject ? -1 : a.row.subject > b.row.subject ? 1 : a.version - b.version))

  app.get<{ Params: { context?: string }; Querystring: Query }>(at, async ({ params, query }) => {
    await store.metadata.barrier()
    const wanted = text(query, 'subjectPrefix') ?? ''
    const all = wanted.startsWith(':*:') || (wanted === '' && params.context === undefined)
    const { context, subject } = all
      ? { context: '', subject: wanted.replace(':*:', '') }
      : parseSubject(wanted, params.context === undefined ? DEFAULT_CONTEXT : parseContext(params.context))
    const rows = [...store.view.subjects()]
      .filter((row) => (all || row.context === context) && row.subject.startsWith(subject))
      .flatMap((row) => {
        const versions = store.versions(row, flag(query, 'deleted'))
        return (flag(query, 'latestOnly') ? versions.slice(-1) : versions).map((version) => ({ row, version }))
      })
    return Promise.all(paged(rows, query).map(({ row, version }) => versionAnswer(registry, row, version)))
  })

  app.get(`${at}/types`, async () => ['JSON', 'PROTOBUF', 'AVRO'])

  app.get<IdRoute>(`${at}/ids/:id`, async (request) => {
    const content = await byId(request)
    const body = await formatted(registry, content, text(request.query, 'format'))
    // every deserializer asks this: who has the schema is looked for only when a subject is named
    const user = text(request.query, 'subject') === undefined ? undefined : users(content, true).at(-1)
    const ids = flag(request.query, 'fetchMaxId') ? [...store.view.contents(content.context)].map(({ id }) => id) : []
    return {
      ...bodyFields(body),
      guid: content.guid,
      ...(user === undefined ? {} : { subject: formatSubject(user.row), version: user.version }),
      ...(ids.length === 0 ? {} : { maxId: Math.max(...ids) }),
    }
  })
  app.get<IdRoute>(`${at}/ids/:id/schema`, async (request, reply) => {
    const { schema } = await formatted(registry, await byId(request), text(request.query, 'format'))
    return sendText(reply, schema)
  })
  app.get<IdRoute>(`${at}/ids/:id/subjects`, async (request) => {
    const found = users(await byId(request), flag(request.query, 'deleted'))
    return paged([...new Set(found.map(({ row }) => formatSubject(row)))], request.query)
  })
  app.get<IdRoute>(`${at}/ids/:id/versions`, async (request) => {
    const found = users(await byId(request), flag(request.query, 'deleted'))
    return paged(
      found.map(({ row, version }) => ({ subject: formatSubject(row), version })),
      request.query,
    )
  })

  app.get<GuidRoute>(`${at}/guids/:guid`, async ({ params, query }) => {
    const content = await byGuid(params.guid)
    return { ...bodyFields(await formatted(registry, content, text(query, 'format'))), guid: content.guid }
  })
  app.get<GuidRoute>(`${at}/guids/:guid/ids`, async ({ params }) => {
    const { guid } = await byGuid(params.guid)
    return [...store.view.contexts()].flatMap((context) => {
      const content = store.view.contentByGuid(context, guid)
      return content === null ? [] : [{ context, id: content.id }]
    })
  })
}
