/**
 * D3: a second member that joined met UNKNOWN_MEMBER_ID, and several groups that rebalanced at once failed. Members that come,
 * go and lag in many groups at the same time all end in one generation with an assignment each.
 */
import { expect, it } from 'vitest'
import { Errors } from '../../protocol/index.ts'
import { apiWorld, settle, type ApiWorld } from '../unit/api/harness.ts'
import { TestMember } from '../unit/api/members.ts'

/** What a client does for ever: beat, and on a rebalance join and sync. Gives up at `until`. */
async function live(world: ApiWorld, member: TestMember, state: { running: boolean; assigned: string; errors: number[] }): Promise<void> {
  let joined = false
  while (state.running) {
    if (!joined) {
      const result = await member.join()
      if (result.errorCode !== 0) {
        state.errors.push(result.errorCode)
        if (result.errorCode === Errors.UNKNOWN_MEMBER_ID) member.memberId = ''
        continue
      }
      const everyone = Object.fromEntries(result.members.map((each, i) => [each.memberId, Buffer.from(`${result.generationId}:${i}`)]))
      const synced = await member.sync(everyone)
      if (synced.errorCode === Errors.REBALANCE_IN_PROGRESS) continue
      if (synced.errorCode !== 0) state.errors.push(synced.errorCode)
      else state.assigned = Buffer.from(synced.assignment).toString()
      joined = synced.errorCode === 0
      continue
    }
    await world.clock.sleep(1_000)
    joined = (await member.heartbeat()) === Errors.NONE
  }
}

it('three groups that rebalance at once settle, and nobody is told an error that it did not cause', async () => {
  const world = await apiWorld()
  const states = ['etl-1', 'etl-2', 'etl-3'].flatMap((groupId) =>
    [0, 1, 2].map((index) => ({ groupId, index, running: true, assigned: '', errors: [] as number[] })),
  )
  const lives: Promise<void>[] = []
  for (const state of states) {
    lives.push(live(world, new TestMember(world, { groupId: state.groupId, clientId: `${state.groupId}-${state.index}` }), state))
    await world.clock.advance(700)
  }
  for (let i = 0; i < 40; i++) await world.clock.advance(500)
  for (const groupId of ['etl-1', 'etl-2', 'etl-3']) {
    const own = states.filter((state) => state.groupId === groupId)
    const { state, members } = world.parts.groups.describe(groupId)
    expect({ groupId, state, members: members.length }).toEqual({ groupId, state: 'Stable', members: 3 })
    expect(new Set(own.map(({ assigned }) => assigned.split(':')[0])).size).toBe(1)
    expect(own.map(({ assigned }) => assigned.split(':')[1]).toSorted()).toEqual(['0', '1', '2'])
  }
  expect(states.flatMap(({ errors }) => errors)).toEqual([])
  for (const state of states) state.running = false
  await world.clock.advance(1_000)
  await Promise.all(lives)
  await world.close()
  await settle()
})

it('a second member that joins while the first is assigned its partitions is served, not refused', async () => {
  const world = await apiWorld()
  const [first, second] = [new TestMember(world), new TestMember(world)]
  const joining = first.join()
  await settle()
  await world.clock.advance(3_000)
  await joining
  const late = second.join()
  await settle()
  expect((await first.sync({ [first.memberId]: Buffer.from('x') })).errorCode).toBe(Errors.REBALANCE_IN_PROGRESS)
  const [again, joined] = await Promise.all([first.join(), late])
  expect([again.errorCode, joined.errorCode, again.generationId, joined.generationId]).toEqual([0, 0, 2, 2])
  await world.close()
})
