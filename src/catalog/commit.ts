import type { TopicView } from '../metadata/view.ts'
import type { Plan } from '../tables/iceberg/prepare.ts'
import type { Publisher } from '../tables/iceberg/publisher.ts'
import type { LoadedTable } from '../tables/iceberg/table.ts'
import { badRequest, conflict } from './errors.ts'
import { checkRequirements, checkRequirementTypes, type Fields } from './requirements.ts'
import { applyUpdates, checkUpdateTypes } from './updates.ts'

const ITEMS_MAX = 1000

function list(body: unknown, key: string): readonly Fields[] {
  const items = (body as Fields | null)?.[key] ?? []
  if (!Array.isArray(items) || items.some((item) => typeof item !== 'object' || item === null))
    throw badRequest(`${key} must be a list of objects`)
  if (items.length > ITEMS_MAX) throw badRequest(`a commit may have ${ITEMS_MAX} ${key}`)
  return items as Fields[]
}

/**
 * A commit of a client: properties and refs (T14). Requirements are checked against the publication that the commit is
 * based on, again for every attempt. Throws 400, 403, 409; resolves with the new publication.
 */
export async function commitTable(publisher: Publisher, topic: TopicView, body: unknown): Promise<LoadedTable> {
  if (typeof body !== 'object' || body === null) throw badRequest('a commit needs a body with requirements and updates')
  const requirements = list(body, 'requirements')
  const updates = list(body, 'updates')
  checkRequirementTypes(requirements)
  checkUpdateTypes(updates)
  const metadataOnly = { operation: 'none', added: [], removed: [], converted: [] } as const
  // A table without a publication gets its first one before the client's wish is looked at.
  await publisher.publish(topic.topic, (table, base): Plan | null =>
    base === null ? { ...metadataOnly, dataTimeMs: table.dataTimeMs } : null,
  )
  const published = await publisher.publish(topic.topic, (table, base): Plan => {
    if (base === null) throw conflict('the table is not published yet')
    checkRequirements(base.metadata, requirements)
    return { ...metadataOnly, dataTimeMs: table.dataTimeMs, ...applyUpdates(base, updates) }
  })
  if (published === null) throw conflict('the topic of the table was deleted')
  return published.loaded
}
