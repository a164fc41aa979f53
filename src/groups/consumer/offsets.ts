import type { ConsumerMember } from '../../metadata/commands.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import { Errors } from '../../../protocol/errors.ts'
import type { CommitRequest } from '../types.ts'
import { epochOf } from './owned.ts'

/** A Kafka error code for all of a request, or one for each partition. */
export type CommitVerdict = number | ((topicId: string, partition: number) => number)

/** Whether offsets may be committed to a consumer group (K: ConsumerGroup.validateOffsetCommit). */
export function mayCommitOffsets({ members }: ConsumerGroupView, request: CommitRequest, isTransactional: boolean): CommitVerdict {
  const { memberId, instanceId, generation } = request
  // An administrator, or a consumer that assigns itself.
  if (generation < 0 && members.size === 0) return Errors.NONE
  // Producers that commit offsets in a transaction may not know of members (before KIP-447).
  if (isTransactional && generation === -1 && memberId === '' && instanceId === null) return Errors.NONE
  const member = members.get(memberId)
  if (member === undefined) return Errors.UNKNOWN_MEMBER_ID
  // Before v9 there was no answer for a stale epoch.
  if (!isTransactional && !member.classic && !request.groupIdNotFound) return Errors.UNSUPPORTED_VERSION
  if (generation === member.epoch) return Errors.NONE
  const stale = member.classic || isTransactional ? Errors.ILLEGAL_GENERATION : Errors.STALE_MEMBER_EPOCH
  return generation > member.epoch
    ? stale
    : (topicId, partition) => (mayStill(member, generation, topicId, partition) ? Errors.NONE : stale)
}

/** KIP-1251: in an older epoch, what the member has had since then. */
function mayStill({ assigned, revoking }: ConsumerMember, epoch: number, topicId: string, partition: number): boolean {
  const since = epochOf(assigned, topicId, partition) ?? epochOf(revoking, topicId, partition)
  return typeof since === 'number' && epoch >= since
}

/** Whether offsets may be read; who names no member, as before v9, always may. */
export function mayFetchOffsets({ members }: ConsumerGroupView, memberId: string | null, memberEpoch: number): number {
  if (memberId === null && memberEpoch < 0) return Errors.NONE
  const member = members.get(memberId ?? '')
  if (member === undefined) return Errors.UNKNOWN_MEMBER_ID
  if (member.epoch === memberEpoch) return Errors.NONE
  return member.classic ? Errors.ILLEGAL_GENERATION : Errors.STALE_MEMBER_EPOCH
}
