import { Errors } from '../../../protocol/errors.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import type { CommitRequest } from '../types.ts'

/** Whether offsets may be committed to a consumer group (K: ConsumerGroup.validateOffsetCommit); a Kafka error code. */
export function mayCommitOffsets({ members }: ConsumerGroupView, request: CommitRequest, isTransactional: boolean): number {
  const { memberId, instanceId, generation } = request
  // An administrator, or a consumer that assigns itself.
  if (generation < 0 && members.size === 0) return Errors.NONE
  // Producers that commit offsets in a transaction may not know of members (before KIP-447).
  if (isTransactional && generation === -1 && memberId === '' && instanceId === null) return Errors.NONE
  const member = members.get(memberId)
  if (member === undefined) return Errors.UNKNOWN_MEMBER_ID
  // Before v9 there was no answer for a stale epoch.
  if (!isTransactional && !request.groupIdNotFound) return Errors.UNSUPPORTED_VERSION
  if (generation === member.epoch) return Errors.NONE
  return isTransactional ? Errors.ILLEGAL_GENERATION : Errors.STALE_MEMBER_EPOCH
}

/** Whether offsets may be read; who names no member, as before v9, always may. */
export function mayFetchOffsets({ members }: ConsumerGroupView, memberId: string | null, memberEpoch: number): number {
  if (memberId === null && memberEpoch < 0) return Errors.NONE
  const member = members.get(memberId ?? '')
  if (member === undefined) return Errors.UNKNOWN_MEMBER_ID
  return member.epoch === memberEpoch ? Errors.NONE : Errors.STALE_MEMBER_EPOCH
}
