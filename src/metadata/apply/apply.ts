import { Errors } from '../../../protocol/errors.ts'
import { FrazilError } from '../../base/errors.ts'
import { type DecodedEntry, type DecodedProposal, decodeEntry, entryHash } from '../codec.ts'
import type { Command, Result } from '../commands.ts'
import type { RawEntry } from '../entryLog.ts'
import type { AppliedChange } from '../port.ts'
import type { Rooms } from '../state/state.ts'
import { type Context, refused } from './context.ts'
import { deleted, enqueueDeletions } from './deletions.ts'
import { assignShards, changeConsumerGroup, commitOffsets, deleteGroup, expireOffsets, moveShards, putGroup } from './groups.ts'
import { moveExtents } from './moves.ts'
import { announcePod, moveLease, renewIncarnations } from './membership.ts'
import { fenceIncarnation, registerIncarnation, setLevel } from './pods.ts'
import { allocateProducerIds, expireProducers } from './producers.ts'
import {
  addToTransaction,
  commitTransactionOffsets,
  endTransaction,
  expireTransaction,
  forgetTransactionalIds,
  initTransaction,
  writeMarkers,
} from './transactions.ts'
import { commitTable, dropTable, setTableTyping } from './tables.ts'
import { alterSchemaSettings, deleteSchemas, registerSchema } from './schemas.ts'
import { alterConfigs, createPartitions, createTopic, deleteTopic, trimPartitions } from './topics.ts'
import { forgetIncarnations, holdDeletions, openTimeline } from './timeline.ts'
import { commitWal } from './wal.ts'

export interface Applied {
  /** One a proposal, in order. */
  readonly results: readonly Result[]
  /** Whose they are (L1). */
  readonly proposals: readonly { readonly incarnation: number; readonly sequence: number }[]
  readonly change: AppliedChange
}

type Handler<K extends Command['kind']> = (context: Context, command: Extract<Command, { kind: K }>) => Result

const handlers: { readonly [K in Command['kind']]: Handler<K> } = {
  registerIncarnation,
  fenceIncarnation,
  setLevel,
  createTopic,
  deleteTopic,
  alterConfigs,
  createPartitions,
  commitWal,
  moveExtents,
  commitTable,
  dropTable,
  setTableTyping,
  trimPartitions,
  deleted,
  enqueueDeletions,
  allocateProducerIds,
  expireProducers,
  assignShards,
  putGroup,
  deleteGroup,
  changeConsumerGroup,
  commitOffsets,
  expireOffsets,
  announcePod,
  renewIncarnations,
  moveLease,
  moveShards,
  registerSchema,
  deleteSchemas,
  alterSchemaSettings,
  initTransaction,
  addToTransaction,
  commitTransactionOffsets,
  endTransaction,
  expireTransaction,
  forgetTransactionalIds,
  writeMarkers,
  holdDeletions,
  forgetIncarnations,
  openTimeline,
}

/** Kinds that came after level 1, with the level from which they take effect (L5). */
const SINCE_LEVEL: Partial<Readonly<Record<Command['kind'], number>>> = {
  announcePod: 2,
  renewIncarnations: 2,
  moveLease: 2,
  moveShards: 2,
  registerSchema: 2,
  deleteSchemas: 2,
  alterSchemaSettings: 2,
  initTransaction: 2,
  addToTransaction: 2,
  commitTransactionOffsets: 2,
  endTransaction: 2,
  expireTransaction: 2,
  forgetTransactionalIds: 2,
  writeMarkers: 2,
  setTableTyping: 2,
  createPartitions: 2,
  changeConsumerGroup: 2,
  holdDeletions: 3,
  forgetIncarnations: 3,
}

/**
 * Follows the chain by one entry (L3): checks number, predecessor's hash and attachment, then applies it.
 * Errors: LOG_CORRUPT, LEVEL_UNKNOWN; the state is unchanged by a LOG_CORRUPT.
 */
export function followEntry(rooms: Rooms, raw: RawEntry): Applied {
  const number = rooms.lastEntry + 1
  if (raw.number !== number) throw new FrazilError('LOG_CORRUPT', `metadata entry ${number} is missing: the log goes on with ${raw.number}`)
  const entry = decodeEntry(number, raw.bytes)
  if (Buffer.compare(entry.previousHash, rooms.lastHash) !== 0) {
    throw new FrazilError(
      'LOG_CORRUPT',
      `metadata entry ${number} does not follow from entry ${number - 1}: its hash of that one is another`,
    )
  }
  if (entry.attachmentBytes !== raw.attachmentBytes) {
    throw new FrazilError(
      'LOG_CORRUPT',
      `metadata entry ${number} carries ${raw.attachmentBytes} bytes, it should be ${entry.attachmentBytes}`,
    )
  }
  const applied = applyEntry(rooms, entry)
  rooms.lastHash = entryHash(rooms.lastHash, raw.bytes)
  return applied
}

/** Synchronous, deterministic, free of clock, randomness and IO: the same entries give the same state and results, always. */
export function applyEntry(rooms: Rooms, entry: DecodedEntry): Applied {
  const context: Context = {
    rooms,
    entry: entry.number,
    timeMs: Math.max(entry.timeMs, rooms.lastTimeMs),
    attachmentBytes: entry.attachmentBytes,
    attachmentOffset: 0,
    incarnation: null,
    appended: [],
  }
  let other = false
  const results: Result[] = []
  for (const proposal of entry.proposals) {
    results.push(applyProposal(context, proposal))
    if (proposal.command.kind !== 'commitWal') other = true
  }
  rooms.lastEntry = entry.number
  rooms.lastTimeMs = context.timeMs
  return { results, proposals: entry.proposals, change: { entry: entry.number, appended: context.appended, other } }
}

/** Skips a proposal that was seen, refuses a gap and a fenced proposer (L1, L13). */
function applyProposal(context: Context, { incarnation, sequence, attachmentOffset, command }: DecodedProposal): Result {
  const { rooms } = context
  if (command.kind === 'registerIncarnation') return registerIncarnation(context, command)
  if (command.kind === 'openTimeline') return openTimeline(context, command)
  const proposer = rooms.podRows.incarnations.get(incarnation)
  if (proposer === undefined) return refused(Errors.STALE_BROKER_EPOCH, `there is no incarnation ${incarnation}`)
  if (sequence <= proposer.lastSequence) {
    const before = rooms.recentResults.find(incarnation, sequence)
    return before ?? refused(Errors.INVALID_REQUEST, `proposal ${sequence} of incarnation ${incarnation} was applied before`)
  }
  if (!proposer.live) return refused(Errors.STALE_BROKER_EPOCH, `incarnation ${incarnation} was fenced`)
  if (sequence !== proposer.lastSequence + 1) {
    return refused(Errors.INVALID_REQUEST, `proposal ${sequence} of incarnation ${incarnation} came after ${proposer.lastSequence}`)
  }
  proposer.lastSequence = sequence
  context.incarnation = proposer
  context.attachmentOffset = attachmentOffset
  const since = SINCE_LEVEL[command.kind] ?? 1
  const result =
    rooms.level < since
      ? refused(Errors.UNSUPPORTED_VERSION, `"${command.kind}" needs feature level ${since}, the cluster is at ${rooms.level}`)
      : (handlers[command.kind] as Handler<Command['kind']>)(context, command as never)
  rooms.recentResults.push(incarnation, sequence, result)
  return result
}
