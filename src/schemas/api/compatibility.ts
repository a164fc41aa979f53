import type { FastifyInstance } from 'fastify'
import type { SchemaVersion } from '../../metadata/view.ts'
import type { SubjectName } from '../registry/names.ts'
import type { SchemaRegistry } from '../registry/registry.ts'
import { type Config, effectiveConfig, sameGroup } from '../registry/settings.ts'
import { flag, parseSchemaRequest, parseVersion, type Query } from './requests.ts'
import { findVersion, subjectOf, type SubjectRoute, type VersionRoute } from './subjects.ts'

export function compatibilityRoutes(app: FastifyInstance, prefix: string, registry: SchemaRegistry): void {
  const { store, writes } = registry
  const at = `${prefix}/compatibility/subjects/:subject/versions`

  const check = async (name: SubjectName, request: unknown, query: Query, versions: readonly SchemaVersion[], config: Config) => {
    const normalize = flag(query, 'normalize') || config.normalize === true
    const body = await writes.bodyOf(name, parseSchemaRequest(request), normalize)
    const previous = versions
      .map((version) => store.body(store.contentOf(name, version)))
      .filter((old) => sameGroup(config.compatibilityGroup, old.metadata, body.metadata))
    const messages = await writes.incompatibilities(name, body, previous, config)
    return { is_compatible: messages.length === 0, ...(flag(query, 'verbose') ? { messages } : {}) }
  }

  /** Against all versions that the subject's level looks at; a subject without versions takes anything. */
  app.post<SubjectRoute>(at, async ({ params, query, body }) => {
    await store.metadata.barrier()
    const name = subjectOf(registry, params)
    return check(name, body, query, store.versions(name), effectiveConfig(store.view, name))
  })

  /** Against one version. Errors: 40401, 40402, 42201, 42202. */
  app.post<VersionRoute>(`${at}/:version`, async ({ params, query, body }) => {
    const name = subjectOf(registry, params)
    const version = await findVersion(registry, name, parseVersion(params.version), false)
    return check(name, body, query, [version], effectiveConfig(store.view, name))
  })
}
