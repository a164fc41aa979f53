import { FrazilError, hasCode } from '../../base/errors.ts'
import type { ObjectStore } from '../store.ts'

/** Names the cluster whose bytes lie under a prefix. */
export const CLUSTER_KEY = 'meta/cluster.json'
const FORMAT = 1

/**
 * Binds the place of a store to a cluster, once: a metadata log that belongs to another cluster, or was made anew, must not
 * write over what is there. Errors: REFUSED with what to do; STORE_….
 */
export async function claimStore(store: ObjectStore, clusterId: string): Promise<void> {
  const place = store.uri('')
  const body = Buffer.from(`${JSON.stringify({ format: FORMAT, clusterId })}\n`)
  for (;;) {
    const found = await read(store)
    if (found === null) {
      if ((await store.putIfAbsent(CLUSTER_KEY, body, { reason: 'metadata' })) !== null) return
      continue
    }
    if (found.format > FORMAT) {
      throw new FrazilError('REFUSED', `${place} was written by a newer version of Frazil (format ${found.format}): run that version`)
    }
    if (found.clusterId === clusterId) return
    throw new FrazilError(
      'REFUSED',
      `${place} belongs to the cluster ${found.clusterId}, and the metadata log to ${clusterId}: give this cluster a bucket or prefix of its own, or the other’s metadata log`,
    )
  }
}

async function read(store: ObjectStore): Promise<{ readonly format: number; readonly clusterId: string } | null> {
  let text
  try {
    text = (await store.get(CLUSTER_KEY, { reason: 'metadata' })).body.toString()
  } catch (error) {
    if (hasCode(error, 'STORE_NOT_FOUND')) return null
    throw error
  }
  try {
    const { format, clusterId } = JSON.parse(text) as { format: unknown; clusterId: unknown }
    if (typeof format === 'number' && typeof clusterId === 'string') return { format, clusterId }
  } catch {
    // the sentence below says what it is
  }
  throw new FrazilError('CORRUPT', `${store.uri(CLUSTER_KEY)} is not what Frazil writes there: another program uses this place`)
}
