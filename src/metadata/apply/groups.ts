import { Errors } from '../../../protocol/errors.ts'
import type {
  AssignShards,
  ChangeConsumerGroup,
  CommitOffsets,
  DeleteGroup,
  ExpireOffsets,
  MoveShards,
  PutGroup,
  Result,
} from '../commands.ts'
import { copyConsumerMember, copyHead } from '../state/consumerGroups.ts'
import { copyGroup, copyOffset, type GroupRow } from '../state/groups.ts'
import { SHARDS, shardOf } from '../state/shards.ts'
import { type Context, OK, refused } from './context.ts'

const MOVED = refused(Errors.NOT_COORDINATOR, 'the group moved to another coordinator')
const NON_EMPTY = refused(Errors.NON_EMPTY_GROUP, 'the group has members of the other protocol')
const STALE = refused(Errors.INVALID_UPDATE_VERSION, 'the group was changed meanwhile')
const TOO_NEW = refused(Errors.UNSUPPORTED_VERSION, 'revisions of consumer groups need feature level 3')
const UNKNOWN = refused(Errors.GROUP_ID_NOT_FOUND, 'there is no such group')

/** Names the owner of shards; each assignment raises the epoch, so that entries of the owner before are refused (L19). */
export function assignShards({ rooms }: Context, command: AssignShards): Result {
  for (const { shard, owner } of command.shards) {
    if (shard >= SHARDS) return refused(Errors.INVALID_REQUEST, `there is no shard ${shard}`)
    if (owner !== 0 && rooms.podRows.incarnations.get(owner)?.live !== true)
      return refused(Errors.INVALID_REQUEST, `incarnation ${owner} does not live`)
  }
  const epochs = command.shards.map(({ shard, owner }) => {
    rooms.shards.owners[shard] = owner
    return ++rooms.shards.epochs[shard]
  })
  return { kind: 'shards', epochs }
}

/** As assignShards, but a shard that moved since the proposer looked stays where it is (L6): two pods that tidy up do not fight. */
export function moveShards({ rooms }: Context, { shards }: MoveShards): Result {
  const epochs = shards.map(({ shard, owner, epoch }) => {
    if (shard >= SHARDS || rooms.shards.epochs[shard] !== epoch) return -1
    if (rooms.podRows.incarnations.get(owner)?.live !== true) return -1
    rooms.shards.owners[shard] = owner
    return ++rooms.shards.epochs[shard]
  })
  return { kind: 'shards', epochs }
}

function moved({ rooms }: Context, groupId: string, shardEpoch: number): boolean {
  return rooms.shards.epochs[shardOf(groupId)] !== shardEpoch
}

/** Of a classic group; one that `downgrades` takes the place of a consumer group with members, if that is still what it was made for. */
export function putGroup(context: Context, { shardEpoch, group, downgrades = 0 }: PutGroup): Result {
  if (moved(context, group.groupId, shardEpoch)) return MOVED
  const row = context.rooms.groupRows.ensure(group.groupId, group.stateTimeMs)
  if (row.consumer !== null && row.consumer.members.size > 0) {
    if (downgrades === 0 || context.rooms.level < 3) return NON_EMPTY
    if (downgrades !== nextRevision(row)) return STALE
  }
  row.consumer = null
  row.record = copyGroup(group)
  return OK
}

/** A step of a consumer group; a classic group becomes one when it has no members or is upgraded with them. */
export function changeConsumerGroup(context: Context, command: ChangeConsumerGroup): Result {
  const { shardEpoch, head, members, removed, upgrades = false } = command
  const { groupId, epoch, stateTimeMs, revision = 0 } = head
  if (context.rooms.level < 3 && (upgrades || revision !== 0)) return TOO_NEW
  if (moved(context, groupId, shardEpoch)) return MOVED
  const row = context.rooms.groupRows.ensure(groupId, stateTimeMs)
  if (revision !== 0 && revision !== nextRevision(row)) return STALE
  if (row.consumer === null && row.record.members.length > 0 && !upgrades) return NON_EMPTY
  row.record = { groupId, protocolType: 'consumer', protocolName: null, generation: epoch, leader: null, members: [], stateTimeMs }
  row.consumer ??= { head, members: new Map() }
  row.consumer.head = copyHead(head)
  for (const memberId of removed) row.consumer.members.delete(memberId)
  for (const member of members) row.consumer.members.set(member.memberId, copyConsumerMember(member))
  return OK
}

/** Changes are numbered from 1 in the life of a consumer group. */
function nextRevision(row: GroupRow): number {
  return (row.consumer?.head.revision ?? 0) + 1
}

export function deleteGroup(context: Context, { shardEpoch, groupId }: DeleteGroup): Result {
  if (moved(context, groupId, shardEpoch)) return MOVED
  context.rooms.transactions.removeGroup(groupId)
  return context.rooms.groupRows.byId.delete(groupId) ? OK : UNKNOWN
}

export function commitOffsets(context: Context, { shardEpoch, groupId, items }: CommitOffsets): Result {
  if (moved(context, groupId, shardEpoch)) return MOVED
  const { groupRows, topicRows } = context.rooms
  const group = groupRows.ensure(groupId, context.timeMs)
  for (const item of items) if (topicRows.slot(item.topic, item.partition) >= 0) groupRows.setOffset(group, copyOffset(item))
  return OK
}

/** Removes what was not committed anew since the proposer looked (L6). */
export function expireOffsets(context: Context, { shardEpoch, groupId, items }: ExpireOffsets): Result {
  if (moved(context, groupId, shardEpoch)) return MOVED
  const { groupRows } = context.rooms
  const group = groupRows.byId.get(groupId)
  if (group === undefined) return UNKNOWN
  for (const { topic, partition, commitTimeMs } of items) {
    if (groupRows.offset(groupId, topic, partition)?.commitTimeMs === commitTimeMs) groupRows.removeOffset(group, topic, partition)
  }
  return OK
}
