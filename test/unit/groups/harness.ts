import { Registry } from 'prom-client'
import { silentLogger } from '../../../src/base/log.ts'
import { GroupCoordinator } from '../../../src/groups/coordinator.ts'
import {
  DEFAULT_GROUP_SETTINGS,
  type CommitItem,
  type CommitRequest,
  type GroupSettings,
  type JoinRequest,
  type JoinResult,
  type SyncResult,
} from '../../../src/groups/types.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { createTopic, open } from '../metadata/helpers.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'
import { ManualClock, settle } from '../wal/harness.ts'

export { settle }

export interface GroupWorld {
  readonly log: MemoryLog
  readonly clock: ManualClock
  readonly engine: MetadataEngine
  readonly groups: GroupCoordinator
  readonly topic: number
}

let uuids = 0

/** A coordinator over the real state machine; the same `log` again is a restart. */
export async function groupWorld(
  options: { log?: MemoryLog; clock?: ManualClock; settings?: Partial<GroupSettings>; level?: number } = {},
): Promise<GroupWorld> {
  const log = options.log ?? new MemoryLog()
  const clock = options.clock ?? new ManualClock()
  const engine = await open(log, { clock, level: options.level ?? 1 })
  const topic = engine.state.topicByName('t')?.topic ?? (await createTopic(engine, 't', 3))
  const settings = { ...DEFAULT_GROUP_SETTINGS, ...options.settings }
  const groups = new GroupCoordinator({
    metadata: engine,
    clock,
    logger: silentLogger,
    registry: new Registry(),
    settings: () => settings,
    randomUuid: () => `uuid-${++uuids}`,
  })
  await groups.start()
  return { log, clock, engine, groups, topic }
}

/** A process that stops without a word: its timers are dead, its log is what the next one opens. */
export function restart(world: GroupWorld, settings?: Partial<GroupSettings>, level?: number): Promise<GroupWorld> {
  return groupWorld({ log: new MemoryLog(world.log.disk), clock: new ManualClock(), settings, level })
}

export const text = (value: string): Uint8Array => Buffer.from(value)

export function joinRequest(more: Partial<JoinRequest> = {}): JoinRequest {
  return {
    groupId: 'g',
    memberId: '',
    instanceId: null,
    clientId: 'c',
    clientHost: '/127.0.0.1',
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 30_000,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: text('m') }],
    requireKnownMemberId: false,
    supportsSkippingAssignment: true,
    ...more,
  }
}

/** What a promise has come to after everything that needs no time has run. */
export async function now<T>(promise: Promise<T>): Promise<T | 'waiting'> {
  let value: T | 'waiting' = 'waiting'
  void promise.then((result) => (value = result))
  await settle()
  return value
}

export function sync(
  world: GroupWorld,
  joined: JoinResult,
  assignments: Record<string, string> = {},
  more: { groupId?: string; instanceId?: string } = {},
): Promise<SyncResult> {
  return world.groups.sync({
    groupId: more.groupId ?? 'g',
    generation: joined.generation,
    memberId: joined.memberId,
    instanceId: more.instanceId ?? null,
    protocolType: null,
    protocolName: null,
    assignments: Object.entries(assignments).map(([memberId, value]) => ({ memberId, assignment: text(value) })),
  })
}

export function heartbeat(
  world: GroupWorld,
  joined: { memberId: string; generation: number },
  more: { groupId?: string; instanceId?: string } = {},
): number {
  return world.groups.heartbeat({
    groupId: more.groupId ?? 'g',
    generation: joined.generation,
    memberId: joined.memberId,
    instanceId: more.instanceId ?? null,
  })
}

/** Members that join one after the other and reach Stable together; the first leads. Assignments are `a-<index>`. */
export async function stableGroup(world: GroupWorld, joins: readonly Partial<JoinRequest>[]): Promise<JoinResult[]> {
  const parked = joins.map((more) => world.groups.join(joinRequest(more)))
  await settle()
  await world.clock.advance(3_000)
  if (joins.length > 1) await world.clock.advance(3_000)
  const joined = await Promise.all(parked)
  const leader = joined.find((result) => result.memberId === result.leader)!
  const assignments = Object.fromEntries(joined.map((result, i) => [result.memberId, `a-${i}`]))
  const groupId = joins[0].groupId ?? 'g'
  await Promise.all(
    joined.map((result, i) => {
      const instanceId = joins[i].instanceId ?? undefined
      return sync(world, result, result === leader ? assignments : {}, { groupId, instanceId })
    }),
  )
  return joined
}

export function commitRequest(items: readonly CommitItem[], more: Partial<CommitRequest> = {}): CommitRequest {
  return { groupId: 'g', memberId: '', instanceId: null, generation: -1, retentionMs: -1, groupIdNotFound: false, items, ...more }
}

export function item(world: GroupWorld, offset: number, more: Partial<CommitItem> = {}): CommitItem {
  return { topic: world.topic, partition: 0, offset, leaderEpoch: 0, metadata: '', ...more }
}
