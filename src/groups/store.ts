import { hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Command } from '../metadata/commands.ts'
import type { Metadata } from '../metadata/port.ts'
import { Errors } from '../../protocol/errors.ts'
import { ownedEpoch } from './shards.ts'

/** A command about a group, still without the epoch of its shard. */
type GroupCommand = Extract<Command, { readonly shardEpoch: number }>
type Unfenced<T> = T extends GroupCommand ? Omit<T, 'shardEpoch'> : never

/**
 * Writes a command about a group under the epoch of its shard. Answers a Kafka error code and never rejects: a lost shard
 * or a process that stops gives NOT_COORDINATOR; a log that cannot be written gives COORDINATOR_NOT_AVAILABLE (the outcome
 * is unknown, clients ask again). UNKNOWN_SERVER_ERROR would end consumers for good, so a fault of ours is logged and
 * answered like the latter. INVALID_UPDATE_VERSION: the group was changed by an entry that was taken for lost.
 */
export async function writeGroup(metadata: Metadata, logger: Logger, groupId: string, command: Unfenced<GroupCommand>): Promise<number> {
  const shardEpoch = ownedEpoch(metadata, groupId)
  if (shardEpoch === null) return Errors.NOT_COORDINATOR
  try {
    const result = await metadata.propose({ ...command, shardEpoch } as Command)
    return result.kind === 'refused' || result.kind === 'transaction' ? result.error : Errors.NONE
  } catch (error) {
    if (hasCode(error, 'FENCED') || hasCode(error, 'CLOSED')) return Errors.NOT_COORDINATOR
    logger.warn({ err: error, group: groupId, command: command.kind }, 'a change of a consumer group could not be stored')
    return Errors.COORDINATOR_NOT_AVAILABLE
  }
}
