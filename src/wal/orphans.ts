import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { ObjectStore } from '../storage/store.ts'
import { parseWalKey, walPrefix } from './format.ts'

const BATCH = 1000

/**
 * WAL objects that were uploaded and never committed, of incarnations that an entry has fenced (L13): nobody can commit
 * them any more. They enter the deletion queue. Run once after the start; returns how many were found.
 *
 * The listing comes first and the barrier after it: an object that is in the list and not in a state newer than the
 * list, of an incarnation fenced in that state, can have no commit.
 */
export async function enqueueOrphans(options: {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly logger: Logger
  readonly graceMs: number
}): Promise<number> {
  const { store, metadata, logger, graceMs } = options
  const candidates: { readonly key: string; readonly incarnation: number }[] = []
  for (let timeline = 0; timeline <= metadata.state.timeline; timeline++) {
    for await (const { key } of store.list(walPrefix(timeline), { reason: 'maintain' })) {
      const parsed = parseWalKey(key)
      if (parsed !== null && parsed.incarnation !== metadata.incarnation) candidates.push({ key, incarnation: parsed.incarnation })
    }
  }
  if (candidates.length === 0) return 0
  await metadata.barrier()
  const known = new Set<string>()
  for (const object of metadata.state.walObjects()) known.add(object.key)
  for (const deletion of metadata.state.deletions()) known.add(deletion.key)
  const orphans = candidates.filter(({ key, incarnation }) => !known.has(key) && metadata.state.isGone(incarnation))
  for (let at = 0; at < orphans.length; at += BATCH) {
    const items = orphans.slice(at, at + BATCH).map(({ key }) => ({ key, graceMs }))
    await metadata.propose({ kind: 'enqueueDeletions', items })
  }
  if (orphans.length > 0) logger.info({ orphans: orphans.length }, 'WAL objects that were never committed will be deleted')
  return orphans.length
}
