import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { commitRequest, groupWorld, item, joinRequest, settle, stableGroup, text } from './harness.ts'

const DAY_MS = 86_400_000
const CHECK_MS = 600_000

/** A consumer's subscription as clients write it (version 1, topics, no user data). */
function subscription(...topics: string[]): Uint8Array {
  const names = topics.map((topic) => Buffer.concat([Buffer.from([0, topic.length]), Buffer.from(topic)]))
  return Buffer.concat([Buffer.from([0, 1, 0, 0, 0, topics.length]), ...names, Buffer.from([255, 255, 255, 255])])
}

describe('who may commit', () => {
  it('is checked by generation, member and state', async () => {
    const world = await groupWorld()
    const commit = async (more: Parameters<typeof commitRequest>[1]): Promise<number> =>
      (await world.groups.commitOffsets(commitRequest([item(world, 1)], more)))[0]
    expect(await commit({ generation: 3, memberId: 'x' })).toBe(Errors.ILLEGAL_GENERATION)
    expect(await commit({ generation: 3, memberId: 'x', groupIdNotFound: true })).toBe(Errors.GROUP_ID_NOT_FOUND)
    expect(await commit({})).toBe(Errors.NONE)
    const [a] = await stableGroup(world, [{}])
    expect(await commit({})).toBe(Errors.UNKNOWN_MEMBER_ID)
    expect(await commit({ generation: 0, memberId: a.memberId })).toBe(Errors.ILLEGAL_GENERATION)
    expect(await commit({ generation: 1, memberId: 'x' })).toBe(Errors.UNKNOWN_MEMBER_ID)
    expect(await commit({ generation: 1, memberId: a.memberId })).toBe(Errors.NONE)
    const joining = world.groups.join(joinRequest())
    await settle()
    expect(await commit({ generation: 1, memberId: a.memberId })).toBe(Errors.NONE)
    await world.groups.join(joinRequest({ memberId: a.memberId }))
    await joining
    expect(await commit({ generation: 2, memberId: a.memberId })).toBe(Errors.REBALANCE_IN_PROGRESS)
  })

  it('refuses long metadata for its partition alone', async () => {
    const world = await groupWorld()
    const items = [item(world, 1, { metadata: 'x'.repeat(4097) }), item(world, 2, { partition: 1, metadata: 'x'.repeat(4096) })]
    expect(await world.groups.commitOffsets(commitRequest(items))).toEqual([Errors.OFFSET_METADATA_TOO_LARGE, Errors.NONE])
    expect(world.groups.offset('g', world.topic, 0)).toBeNull()
    expect(world.groups.offset('g', world.topic, 1)).toMatchObject({ offset: 2 })
  })
})

describe('unchanged commits (L20)', () => {
  it('make no entry, save once an hour', async () => {
    const world = await groupWorld()
    const commit = (offset: number, metadata = ''): Promise<readonly number[]> =>
      world.groups.commitOffsets(commitRequest([item(world, offset, { metadata })]))
    await commit(7)
    const entries = world.log.appendedBytes.length
    expect(await commit(7)).toEqual([Errors.NONE])
    expect(world.log.appendedBytes.length).toBe(entries)
    await commit(7, 'other text')
    expect(world.log.appendedBytes.length).toBe(entries + 1)
    world.clock.nowMs += 3_600_000
    await commit(7, 'other text')
    expect(world.log.appendedBytes.length).toBe(entries + 2)
  })

  it('are told from a commit that goes back while a newer one is on its way', async () => {
    const world = await groupWorld()
    const commit = (offset: number): Promise<readonly number[]> => world.groups.commitOffsets(commitRequest([item(world, offset)]))
    await commit(5)
    await Promise.all([commit(6), commit(5)])
    expect(world.groups.offset('g', world.topic, 0)).toMatchObject({ offset: 5 })
  })
})

describe('retention (KIP-211)', () => {
  it('removes offsets of a simple consumer seven days after the last commit, and the group with them', async () => {
    const world = await groupWorld()
    await world.groups.commitOffsets(commitRequest([item(world, 5)]))
    world.clock.nowMs += 7 * DAY_MS - CHECK_MS - 1
    await world.clock.advance(CHECK_MS)
    expect(world.groups.offset('g', world.topic, 0)).not.toBeNull()
    await world.clock.advance(CHECK_MS)
    expect(world.groups.offset('g', world.topic, 0)).toBeNull()
    expect(world.engine.state.group('g')).toBeNull()
  })

  it('counts from the time at which a group of members became empty', async () => {
    const world = await groupWorld()
    const [a] = await stableGroup(world, [{ sessionTimeoutMs: 1_800_000 }])
    await world.groups.commitOffsets(commitRequest([item(world, 5)], { memberId: a.memberId, generation: 1 }))
    for (let hours = 0; hours < 8 * 24; hours += 12) {
      world.clock.nowMs += DAY_MS / 2 - CHECK_MS
      world.groups.heartbeat({ groupId: 'g', generation: 1, memberId: a.memberId, instanceId: null })
      await world.clock.advance(CHECK_MS)
    }
    expect(world.groups.offset('g', world.topic, 0)).not.toBeNull()
    world.groups.leave('g', [{ memberId: a.memberId, instanceId: null }])
    await settle()
    world.clock.nowMs += 7 * DAY_MS - CHECK_MS - 1
    await world.clock.advance(CHECK_MS)
    expect(world.groups.offset('g', world.topic, 0)).not.toBeNull()
    await world.clock.advance(CHECK_MS)
    expect(world.engine.state.group('g')).toBeNull()
  })

  it('removes, from a group that lives, topics that nobody subscribes to any more', async () => {
    const world = await groupWorld({ settings: { offsetsRetentionMs: 1_000_000 } })
    const join = { sessionTimeoutMs: 1_800_000, protocols: [{ name: 'range', metadata: subscription('other') }] }
    const [a] = await stableGroup(world, [join])
    await world.groups.commitOffsets(commitRequest([item(world, 5)], { memberId: a.memberId, generation: 1 }))
    world.clock.nowMs += 1_000_000 - CHECK_MS
    await world.clock.advance(CHECK_MS)
    expect(world.groups.offset('g', world.topic, 0)).toBeNull()
    expect(world.groups.describe('g').state).toBe('Stable')
  })

  it('keeps topics that somebody subscribes to, and all when the subscription cannot be read', async () => {
    for (const metadata of [subscription('t'), text('?')]) {
      const world = await groupWorld({ settings: { offsetsRetentionMs: 1_000_000 } })
      const [a] = await stableGroup(world, [{ sessionTimeoutMs: 1_800_000, protocols: [{ name: 'range', metadata }] }])
      await world.groups.commitOffsets(commitRequest([item(world, 5)], { memberId: a.memberId, generation: 1 }))
      world.clock.nowMs += 1_000_000 - CHECK_MS
      await world.clock.advance(CHECK_MS)
      expect(world.groups.offset('g', world.topic, 0)).not.toBeNull()
    }
  })

  it('honours the retention that old requests carry', async () => {
    const world = await groupWorld()
    await world.groups.commitOffsets(commitRequest([item(world, 5)], { retentionMs: 1_000 }))
    await world.clock.advance(CHECK_MS)
    expect(world.groups.offset('g', world.topic, 0)).toBeNull()
  })
})

describe('DeleteGroups', () => {
  it('removes empty groups with their offsets and refuses others', async () => {
    const world = await groupWorld()
    await world.groups.commitOffsets(commitRequest([item(world, 5)]))
    await stableGroup(world, [{ groupId: 'h' }])
    expect(await world.groups.delete('h')).toBe(Errors.NON_EMPTY_GROUP)
    expect(await world.groups.delete('none')).toBe(Errors.GROUP_ID_NOT_FOUND)
    expect(await world.groups.delete('g')).toBe(Errors.NONE)
    expect(world.groups.offset('g', world.topic, 0)).toBeNull()
    expect(await world.groups.delete('g')).toBe(Errors.GROUP_ID_NOT_FOUND)
  })
})
