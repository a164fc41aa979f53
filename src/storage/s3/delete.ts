import { FrazilError } from '../../base/errors.ts'
import { checkKey } from '../keys.ts'

/** What S3 takes in one request. */
const BATCH = 1000
const ROUNDS = 3

export interface DeleteFailure {
  readonly key: string
  readonly Code?: string
  readonly Message?: string
}

/** Per-key errors that may pass. */
const PASSING: ReadonlySet<string> = new Set(['InternalError', 'SlowDown', 'ServiceUnavailable', 'OperationAborted'])

/** Deletes in batches; keys that failed for a moment are tried again. Returns those that could not be deleted. */
export async function deleteAll(
  keys: readonly string[],
  send: (batch: readonly string[]) => Promise<readonly DeleteFailure[]>,
): Promise<readonly { readonly key: string; readonly error: Error }[]> {
  const failed: { key: string; error: Error }[] = []
  const legal: string[] = []
  for (const key of new Set(keys)) {
    try {
      checkKey(key)
      legal.push(key)
    } catch (error) {
      failed.push({ key, error: error as Error })
    }
  }
  for (let at = 0; at < legal.length; at += BATCH) {
    let batch = legal.slice(at, at + BATCH)
    for (let round = 1; batch.length > 0; round++) {
      const again: string[] = []
      for (const { key, Code = '', Message = '' } of await send(batch)) {
        if (Code === 'NoSuchKey') continue
        if (round < ROUNDS && PASSING.has(Code)) again.push(key)
        else failed.push({ key, error: new FrazilError('STORE_UNAVAILABLE', `cannot delete ${key}: ${Message} (${Code})`) })
      }
      batch = again
    }
  }
  return failed
}
