import { describe, expect, it } from 'vitest'
import type { AssignedMember, Assignor } from '../../../src/groups/consumer/assignors/assignor.ts'
import { range } from '../../../src/groups/consumer/assignors/range.ts'
import { uniform } from '../../../src/groups/consumer/assignors/uniform.ts'
import { toOwned } from '../../../src/groups/consumer/owned.ts'
import { Random } from '../metadata/randomCommands.ts'

const member = (memberId: string, topicIds: readonly string[], more: Partial<AssignedMember> = {}): AssignedMember => {
  return { memberId, instanceId: null, topicIds, target: [], ...more }
}

/** Runs an assignor; the result as "topic:partition" lists. */
function run(assignor: Assignor, members: readonly AssignedMember[], topics: Record<string, number>): Record<string, string[]> {
  const given = assignor({ members, topics: new Map(Object.entries(topics)) })
  const entries = [...given].map(([id, sets]) => {
    return [id, toOwned(sets).flatMap(({ topicId, partitions }) => partitions.map((p) => `${topicId}:${p}`))] as const
  })
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** The members with what they were given, for the next round. */
function kept(assignor: Assignor, members: readonly AssignedMember[], topics: Record<string, number>): AssignedMember[] {
  const given = assignor({ members, topics: new Map(Object.entries(topics)) })
  return members.map((each) => ({ ...each, target: toOwned(given.get(each.memberId)!) }))
}

const moves = (before: readonly AssignedMember[], after: readonly AssignedMember[]): number => {
  const owners = new Map<string, string>()
  for (const { memberId, target } of before) for (const t of target) for (const p of t.partitions) owners.set(`${t.topicId}:${p}`, memberId)
  let count = 0
  for (const { memberId, target } of after) {
    for (const t of target) for (const p of t.partitions) if ((owners.get(`${t.topicId}:${p}`) ?? memberId) !== memberId) count++
  }
  return count
}

const sizes = (members: readonly AssignedMember[]): number[] =>
  members.map(({ target }) => target.reduce((sum, { partitions }) => sum + partitions.length, 0))

describe('range', () => {
  it('cuts every topic into runs, the first members get the longer ones', () => {
    expect(run(range, [member('b', ['t', 'u']), member('a', ['t', 'u'])], { t: 3, u: 4 })).toEqual({
      a: ['t:0', 't:1', 'u:0', 'u:1'],
      b: ['t:2', 'u:2', 'u:3'],
    })
  })

  it('gives static members their place by instance id', () => {
    const members = [member('a', ['t']), member('z', ['t'], { instanceId: '1' })]
    expect(run(range, members, { t: 2 })).toEqual({ a: ['t:1'], z: ['t:0'] })
  })

  it('leaves members without a partition when there are too few', () => {
    expect(run(range, [member('a', ['t']), member('b', ['t']), member('c', [])], { t: 1 })).toEqual({ a: ['t:0'], b: [], c: [] })
  })
})

describe('uniform', () => {
  it('as many partitions as a topic may have go to a second member', () => {
    const [a] = kept(uniform, [member('a', ['t'])], { t: 100_000 })
    const both = kept(uniform, [a, member('b', ['t'])], { t: 100_000 })
    expect(sizes(both)).toEqual([50_000, 50_000])
    expect(moves([a], both)).toBe(50_000)
    expect(both[0].target[0].partitions.at(-1)).toBe(49_999)
  })

  it('moves only what it must when members come and go', () => {
    const topics = { t: 12, u: 7 }
    const alone = kept(uniform, [member('a', ['t', 'u'])], topics)
    expect(sizes(alone)).toEqual([19])
    const two = kept(uniform, [...alone, member('b', ['t', 'u'])], topics)
    expect(sizes(two)).toEqual([10, 9])
    expect(moves(alone, two)).toBe(9)
    const three = kept(uniform, [...two, member('c', ['t', 'u'])], topics)
    expect(sizes(three).toSorted()).toEqual([6, 6, 7])
    expect(moves(two, three)).toBe(6)
    const left = kept(uniform, three.slice(1), topics)
    expect(sizes(left).toSorted()).toEqual([10, 9].toSorted())
    // Only what the one that left had, has a new owner.
    expect(moves(three.slice(1), left)).toBe(0)
  })

  it('changes nothing when nothing changed, whatever the order of the members', () => {
    const members = kept(
      uniform,
      ['a', 'b', 'c', 'd'].map((id) => member(id, ['t'])),
      { t: 10 },
    )
    expect(moves(members, kept(uniform, members.toReversed(), { t: 10 }))).toBe(0)
  })

  it('takes away what is not subscribed to or not there any more', () => {
    const target = [
      { topicId: 't', partitions: [0, 1, 9] },
      { topicId: 'gone', partitions: [0] },
    ]
    expect(run(uniform, [member('a', ['t'], { target })], { t: 2 })).toEqual({ a: ['t:0', 't:1'] })
  })

  it('levels different subscriptions as far as they allow', () => {
    expect(run(uniform, [member('a', ['t']), member('b', ['t', 'u'])], { t: 2, u: 2 })).toEqual({ a: ['t:0', 't:1'], b: ['u:0', 'u:1'] })
  })

  it('random groups: complete, nothing twice, level, deterministic', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = new Random(seed)
      const topics = Object.fromEntries(Array.from({ length: 1 + random.int(4) }, (_, i) => [`t${i}`, 1 + random.int(12)]))
      const same = random.chance(0.5)
      let members: AssignedMember[] = []
      for (let step = 0; step < 8; step++) {
        if (members.length === 0 || random.chance(0.6)) {
          const names = Object.keys(topics).filter(() => same || random.chance(0.6))
          members = members.concat(member(`m${random.int(1e6)}`, names))
        } else members = members.filter((_, i) => i !== random.int(members.length) || members.length === 1)
        members = kept(uniform, members, topics)
        check(seed, members, topics, same)
        expect(kept(uniform, members.toReversed(), topics).toReversed()).toEqual(members)
      }
    }
  })
})

function check(seed: number, members: readonly AssignedMember[], topics: Record<string, number>, same: boolean): void {
  const owners = new Map<string, AssignedMember>()
  for (const each of members) {
    for (const { topicId, partitions } of each.target) {
      expect(each.topicIds, `seed ${seed}`).toContain(topicId)
      for (const partition of partitions) {
        expect(owners.has(`${topicId}:${partition}`), `seed ${seed}`).toBe(false)
        owners.set(`${topicId}:${partition}`, each)
      }
    }
  }
  const [loads, subscribed] = [sizes(members), new Set(members.flatMap(({ topicIds }) => topicIds))]
  for (const topic of subscribed) for (let p = 0; p < topics[topic]!; p++) expect(owners.has(`${topic}:${p}`), `seed ${seed}`).toBe(true)
  expect(same ? Math.max(...loads) - Math.min(...loads) : 0, `seed ${seed}`).toBeLessThanOrEqual(1)
  for (const [place, owner] of owners) {
    const load = loads[members.indexOf(owner)]
    members.forEach((other, i) => {
      const gains = other.topicIds.includes(place.split(':')[0]) ? load - loads[i] : 0
      expect(gains, `seed ${seed}`).toBeLessThan(2)
    })
  }
}
