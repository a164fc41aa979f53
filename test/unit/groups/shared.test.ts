import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { GroupCoordinator } from '../../../src/groups/coordinator.ts'
import { DEFAULT_GROUP_SETTINGS } from '../../../src/groups/types.ts'
import { SUPPORTED_LEVEL } from '../../../src/metadata/apply/pods.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { shardOf } from '../../../src/metadata/state/shards.ts'
import { open } from '../metadata/helpers.ts'
import { MemoryDisk, MemoryLog } from '../metadata/memoryLog.ts'
import { ManualClock } from '../wal/harness.ts'
import { joinRequest, now, settle, text } from './harness.ts'

interface Pod {
  readonly engine: MetadataEngine
  readonly groups: GroupCoordinator
  readonly clock: ManualClock
}

let uuids = 0
async function pod(disk: MemoryDisk, name: string): Promise<Pod> {
  const clock = new ManualClock()
  const engine = await open(new MemoryLog(disk), { clock, pod: name, level: SUPPORTED_LEVEL, fenceOlder: false })
  const groups = new GroupCoordinator({
    metadata: engine,
    clock,
    logger: silentLogger,
    registry: new Registry(),
    shared: true,
    settings: () => ({ ...DEFAULT_GROUP_SETTINGS, initialRebalanceDelayMs: 0 }),
    randomUuid: () => `uuid-${++uuids}`,
  })
  await groups.start()
  return { engine, groups, clock }
}

const shard = shardOf('g')
async function give(from: Pod, to: Pod): Promise<void> {
  await from.engine.barrier()
  const { epoch } = from.engine.state.shard(shard)
  await from.engine.propose({ kind: 'moveShards', shards: [{ shard, owner: to.engine.incarnation, epoch }] })
  await to.engine.barrier()
  await settle()
}

describe('coordinator shards among pods (L19)', () => {
  it('a group goes on at the new owner without a rebalance; the old one says NOT_COORDINATOR, to parked joins too', async () => {
    const disk = new MemoryDisk()
    const [a, b] = [await pod(disk, 'a'), await pod(disk, 'b')]
    expect((await a.groups.join(joinRequest())).error).toBe(Errors.NOT_COORDINATOR)
    await give(a, a)
    const joining = a.groups.join(joinRequest())
    await settle()
    a.clock.advance(10)
    const joined = await joining
    const member = { groupId: 'g', generation: joined.generation, memberId: joined.memberId, instanceId: null }
    const assignments = [{ memberId: joined.memberId, assignment: text('p0') }]
    expect((await a.groups.sync({ ...member, protocolType: null, protocolName: null, assignments })).error).toBe(Errors.NONE)
    // A second member is parked while the shard goes.
    const parked = a.groups.join(joinRequest())
    expect(await now(parked)).toBe('waiting')
    await give(a, b)
    expect(await now(parked)).toMatchObject({ error: Errors.NOT_COORDINATOR })
    expect([a.groups.heartbeat(member), b.groups.heartbeat(member)]).toEqual([Errors.NOT_COORDINATOR, Errors.NONE])
    expect(b.groups.list().map((group) => group.groupId)).toEqual(['g'])
    expect(a.groups.list()).toEqual([])
    // Its session runs at the new owner only, from the takeover on.
    a.clock.advance(60_000)
    await settle()
    expect(b.groups.heartbeat(member)).toBe(Errors.NONE)
    b.clock.advance(60_000)
    await settle()
    expect(b.groups.heartbeat(member)).toBe(Errors.UNKNOWN_MEMBER_ID)
    // And back: nothing of the old life is left at a.
    await give(b, a)
    expect(a.groups.heartbeat(member)).toBe(Errors.UNKNOWN_MEMBER_ID)
  })
})
