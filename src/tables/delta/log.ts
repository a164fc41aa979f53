import { FrazilError, hasCode } from '../../base/errors.ts'
import type { ObjectStore } from '../../storage/store.ts'
import type { Checkpoints } from './checkpoints.ts'
import { appId, EMPTY, parseActions, replay, type DeltaState } from './state.ts'

const digits = (version: number): string => String(version).padStart(20, '0')

/** Store keys of a table's Delta log. */
export const deltaLayout = {
  prefix: (location: string): string => `${location}/_delta_log/`,
  version: (location: string, version: number): string => `${location}/_delta_log/${digits(version)}.json`,
  checkpoint: (location: string, version: number): string => `${location}/_delta_log/${digits(version)}.checkpoint.parquet`,
  lastCheckpoint: (location: string): string => `${location}/_delta_log/_last_checkpoint`,
} as const

/** The version in a log key and what it is, or null for another object. */
export function parseLogKey(key: string): { readonly version: number; readonly kind: 'json' | 'checkpoint' } | null {
  const match = /\/(\d{20})\.(json|checkpoint\.parquet)$/.exec(key)
  return match === null ? null : { version: Number(match[1]), kind: match[2] === 'json' ? 'json' : 'checkpoint' }
}

async function lastCheckpoint(store: ObjectStore, location: string): Promise<number> {
  try {
    const { body } = await store.get(deltaLayout.lastCheckpoint(location), { reason: 'table' })
    const { version } = JSON.parse(body.toString()) as { readonly version?: unknown }
    return typeof version === 'number' ? version : -1
  } catch (error) {
    // Only a hint: without it the log is listed from its beginning.
    if (hasCode(error, 'STORE_NOT_FOUND') || error instanceof SyntaxError) return -1
    throw error
  }
}

/**
 * Reads what a log shows: the newest checkpoint and the versions behind it; or all of it from version 0 on.
 * Errors: STORE_…, CORRUPT.
 */
export async function readLog(store: ObjectStore, checkpoints: Checkpoints, location: string, tableUuid: string): Promise<DeltaState> {
  const hint = await lastCheckpoint(store, location)
  const versions: number[] = []
  let checkpoint = -1
  // `…json` sorts behind `….checkpoint.parquet` of the same version, and both behind the bare number.
  const startAfter = hint < 0 ? undefined : `${deltaLayout.prefix(location)}${digits(hint)}`
  for await (const { key } of store.list(deltaLayout.prefix(location), {
    reason: 'table',
    ...(startAfter === undefined ? {} : { startAfter }),
  })) {
    const parsed = parseLogKey(key)
    if (parsed === null) continue
    if (parsed.kind === 'json') versions.push(parsed.version)
    else checkpoint = Math.max(checkpoint, parsed.version)
  }
  if (hint >= 0 && checkpoint < 0) throw new FrazilError('CORRUPT', `checkpoint ${hint} of the Delta log in ${location} is gone`)
  const app = appId(tableUuid)
  let state: DeltaState = EMPTY
  try {
    if (checkpoint >= 0) {
      const { body } = await store.get(deltaLayout.checkpoint(location, checkpoint), { reason: 'table' })
      state = { ...replay(EMPTY, checkpoint, await checkpoints.read(body), app), checkpoint }
    }
    for (const version of versions.toSorted((a, b) => a - b)) {
      if (version <= state.version) continue
      if (version !== state.version + 1)
        throw new FrazilError('CORRUPT', `version ${state.version + 1} of the Delta log in ${location} is gone`)
      const { body } = await store.get(deltaLayout.version(location, version), { reason: 'table' })
      state = replay(state, version, parseActions(body.toString()), app)
    }
  } catch (error) {
    throw error instanceof FrazilError ? error : new FrazilError('CORRUPT', `the Delta log in ${location} does not read`, error)
  }
  return state
}
