import type { ConsumerMember, GroupMember, GroupRecord, OwnedPartitions } from '../../metadata/commands.ts'
import type { ConsumerGroupView, StateView } from '../../metadata/view.ts'
import { Errors } from '../../../protocol/errors.ts'
import { encodeAssignment, parseAssignment, parseSubscription, type NamedPartitions } from '../embedded.ts'
import { selectProtocol } from '../protocols.ts'
import type { Draft } from './draft.ts'
import { gotIn, toOwned } from './owned.ts'
import { mayUpgrade, refusal, type ConsumerSettings, type Owned, type Refusal } from './types.ts'

/** Why a classic group with members cannot become a consumer group now, or null (K: validateOnlineUpgrade). */
export function upgradeProblem(groupId: string, protocolType: string, membersCount: number, settings: ConsumerSettings): Refusal | null {
  const no = (why: string): Refusal =>
    refusal(Errors.GROUP_ID_NOT_FOUND, `Cannot upgrade classic group ${groupId} to consumer group because ${why}.`)
  if (!mayUpgrade(settings)) return no('online upgrade is disabled')
  if (protocolType !== 'consumer') return no('the group does not use the consumer embedded protocol')
  if (membersCount > settings.membersMax) return no('the group size exceeds the consumer group maximum size')
  return null
}

/**
 * A classic group as a consumer group: what its members had last they have and shall have, in the epoch that was their generation. Who joins
 * makes the next epoch. A refusal when bytes of a member are none of the embedded protocol, or hold data of an assignor of the user's own.
 * `revision`: of an empty consumer group of that id.
 */
export function upgraded(record: GroupRecord, state: StateView, revision?: number): ConsumerGroupView | Refusal {
  const { groupId, generation, stateTimeMs } = record
  const no = (why: string): Refusal =>
    refusal(Errors.GROUP_ID_NOT_FOUND, `Cannot upgrade classic group ${groupId} to consumer group because ${why}.`)
  const protocolName = record.protocolName ?? selectProtocol(record.members)
  const members = new Map<string, ConsumerMember>()
  for (const member of record.members) {
    const bytes = member.protocols.find(({ name }) => name === protocolName)?.metadata
    const subscription = bytes === undefined ? null : parseSubscription(bytes)
    const assignment = parseAssignment(member.assignment)
    if (subscription === null || assignment === null) return no('the embedded consumer protocol is malformed')
    if (assignment.hasUserData) {
      return no(
        'an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor before re-attempting the upgrade',
      )
    }
    const { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, sessionTimeoutMs, protocols } = member
    const target = byId(assignment.partitions, state)
    members.set(memberId, {
      memberId,
      instanceId,
      rackId: subscription.rackId,
      clientId,
      clientHost,
      rebalanceTimeoutMs,
      topics: [...new Set(subscription.topics)].sort(),
      regex: null,
      assignor: null,
      epoch: generation,
      previousEpoch: generation,
      phase: 0,
      assigned: gotIn(target, generation),
      revoking: [],
      target,
      classic: { sessionTimeoutMs, protocols },
    })
  }
  const head = { groupId, epoch: generation, assignmentEpoch: generation, topicsHash: '', assignor: '', stateTimeMs, revision }
  return { head, members }
}

/**
 * A consumer group whose members all speak the classic protocol, as a classic group: its generation is the epoch of before the change that
 * made it so, its members have what they should have had.
 */
export function downgraded(draft: Draft, state: StateView, nowMs: number): GroupRecord {
  const members = draft.members()
  const protocolName = selectProtocol(members.map(({ classic }) => classic!))
  return {
    groupId: draft.groupId,
    protocolType: 'consumer',
    protocolName,
    generation: draft.epochBefore,
    leader: null,
    members: members.map((member) => toClassicMember(member, protocolName, state)),
    stateTimeMs: nowMs,
  }
}

function toClassicMember(member: ConsumerMember, protocolName: string | null, state: StateView): GroupMember {
  const { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, classic, target } = member
  const { sessionTimeoutMs, protocols } = classic!
  const subscription = protocols.find(({ name }) => name === protocolName)?.metadata ?? protocols[0].metadata
  const assignment = encodeAssignment(byName(target, state), subscription)
  return { memberId, instanceId, clientId, clientHost, rebalanceTimeoutMs, sessionTimeoutMs, protocols, assignment }
}

/** Topics that exist; the same topic twice is joined. */
export function byId(partitions: readonly NamedPartitions[], state: StateView): OwnedPartitions[] {
  const sets = new Map<string, Set<number>>()
  for (const each of partitions) {
    const topicId = state.topicByName(each.topic)?.topicId
    if (topicId === undefined) continue
    const set = sets.get(topicId) ?? new Set()
    for (const partition of each.partitions) set.add(partition)
    sets.set(topicId, set)
  }
  return toOwned(sets)
}

export function byName(owned: Owned, state: StateView): NamedPartitions[] {
  return owned.flatMap(({ topicId, partitions }) => {
    const topic = state.topicById(topicId)?.name
    return topic === undefined ? [] : [{ topic, partitions }]
  })
}
