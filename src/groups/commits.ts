import type { ConsumerGroupView, StateView } from '../metadata/view.ts'
import { Errors } from '../../protocol/errors.ts'
import { mayCommitOffsets, type CommitVerdict } from './consumer/offsets.ts'
import type { Group } from './group.ts'
import { findMember } from './join.ts'
import type { CommitRequest } from './types.ts'

/** Whether offsets may be committed to the group, which is a consumer group, or a classic one, or not there. */
export function mayCommit(
  request: CommitRequest,
  consumer: ConsumerGroupView | null,
  group: Group | null,
  isTransactional: boolean,
): CommitVerdict {
  if (consumer !== null) return mayCommitOffsets(consumer, request, isTransactional)
  if (group === null) {
    if (request.generation < 0) return Errors.NONE
    return request.groupIdNotFound ? Errors.GROUP_ID_NOT_FOUND : Errors.ILLEGAL_GENERATION
  }
  // A negative generation is an administrator or a consumer that assigns itself: only while nobody is in the group.
  if (request.generation < 0 && group.state.name === 'Empty') return Errors.NONE
  // Producers that commit offsets in a transaction may not know of members (before KIP-447).
  if (request.generation < 0 && request.memberId === '' && request.instanceId === null)
    return isTransactional ? Errors.NONE : Errors.UNKNOWN_MEMBER_ID
  const member = findMember(group, request.memberId, request.instanceId)
  if (typeof member === 'number') return member
  if (request.generation !== group.generation) return Errors.ILLEGAL_GENERATION
  return group.state.commit(group, member)
}

/** Commits what the verdict allows; one Kafka error code an item of the request. */
export async function allowed<T extends CommitRequest>(
  request: T,
  verdict: CommitVerdict,
  state: StateView,
  commit: (part: T) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  if (verdict === Errors.NONE) return commit(request)
  if (typeof verdict === 'number') return request.items.map(() => verdict)
  const errors = request.items.map(({ topic, partition }) => verdict(state.topicByNumber(topic)?.topicId ?? '', partition))
  const items = request.items.filter((_, i) => errors[i] === Errors.NONE)
  const outcomes = items.length === 0 ? [] : await commit({ ...request, items })
  let next = 0
  return errors.map((error) => (error === Errors.NONE ? outcomes[next++] : error))
}
