import { Errors } from '../../../protocol/index.ts'
import type { AlterConfigs } from '../../metadata/commands.ts'
import type { ApiParts } from '../parts.ts'
import type { AlterTarget } from './alterTarget.ts'
import { adminFailure } from './failures.ts'
import type { ConfigError } from './topicConfigs.ts'

/** Stores a checked change of a resource's configs; null when it was done. */
export async function storeConfigs(
  { target }: AlterTarget,
  change: Pick<AlterConfigs, 'set' | 'remove'>,
  parts: ApiParts,
): Promise<ConfigError | null> {
  if (Object.keys(change.set).length === 0 && change.remove.length === 0) return null
  try {
    const result = await parts.metadata.propose({ kind: 'alterConfigs', target, ...change })
    return result.kind === 'refused' ? { error: result.error, message: result.reason } : null
  } catch (failure) {
    const error = adminFailure(failure)
    if (error === Errors.UNKNOWN_SERVER_ERROR) throw failure
    parts.logger.warn({ err: failure }, 'configs could not be changed')
    return { error, message: 'The metadata log could not be written.' }
  }
}
