import { Broker } from '../../lib/broker.ts'
import { createTopic, RawClient, residentMib, sleep } from './client.ts'
import { check, note } from './report.ts'

/** What a member may cost in memory at most, with its partitions; what a group may that has one offset. */
const MEMBER_MAX_KIB = 256
const GROUP_MAX_KIB = 64
const SETTINGS = {
  'group.initial.rebalance.delay.ms': '0',
  'group.consumer.assignment.interval.ms': '1000',
  'group.consumer.heartbeat.interval.ms': '1000',
}
const HEARTBEAT_VERSION = 1
const COMMIT_VERSION = 8

/** Part 4 of issue 6: one group with many members, many groups with one; somebody else is served meanwhile. */
export async function groups(long: boolean): Promise<void> {
  await manyMembers(long ? 500 : 100, long ? 1000 : 200)
  await manyGroups(long ? 5000 : 1000)
}

/** Joins a classic group of its own and keeps it; counts what was answered otherwise than it should be. */
class Bystander {
  #stopped = false
  wrong = 0
  beats = 0
  longestMs = 0
  readonly #run: Promise<void>

  constructor(port: number) {
    this.#run = this.#live(port)
  }

  async #live(port: number): Promise<void> {
    const client = await RawClient.open(port)
    const protocols = [{ name: 'range', metadata: Buffer.from([0, 0, 0, 0, 0, 0, 255, 255, 255, 255]) }]
    const join = { groupId: 'bystander', sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 10_000, protocolType: 'consumer', protocols }
    const joined = await client.call(11, 3, { ...join, memberId: '' })
    const { memberId, generationId } = joined
    const assignments = [{ memberId, assignment: Buffer.from([1]) }]
    await client.call(14, 3, { groupId: 'bystander', generationId, memberId, assignments })
    while (!this.#stopped) {
      const from = performance.now()
      const { errorCode } = await client.call(12, 3, { groupId: 'bystander', generationId, memberId })
      this.longestMs = Math.max(this.longestMs, performance.now() - from)
      this.beats++
      if (errorCode !== 0) this.wrong++
      await sleep(50)
    }
    await client.destroy()
  }

  async end(): Promise<void> {
    this.#stopped = true
    await this.#run
    check('a group beside them is served all along', this.wrong === 0 && this.beats > 0, `${this.beats} heartbeats, ${this.wrong} refused`)
    note(`its slowest heartbeat took ${this.longestMs.toFixed(0)} ms`)
  }
}

interface MemberState {
  readonly memberId: string
  readonly client: RawClient
  epoch: number
  /** By topic id. */
  owned: readonly { readonly topicId: string; readonly partitions: readonly number[] }[]
}

/** A beat of a member that does what it is told at once; an error code. */
async function beat(member: MemberState, isFirst: boolean): Promise<number> {
  const first = isFirst ? { rebalanceTimeoutMs: 60_000, subscribedTopicNames: ['many'] } : {}
  const { client, memberId, epoch, owned } = member
  const request = { groupId: 'crowd', memberId, memberEpoch: isFirst ? 0 : epoch, topicPartitions: isFirst ? [] : owned, ...first }
  const answer = await client.call(68, HEARTBEAT_VERSION, request, 120_000)
  if (answer.errorCode !== 0) return answer.errorCode
  member.epoch = answer.memberEpoch
  if (answer.assignment !== null) member.owned = [...answer.assignment.topicPartitions]
  return 0
}

/** One group of the consumer protocol: everybody joins at once, beats until all partitions are shared out, and leaves. */
async function manyMembers(size: number, partitions: number): Promise<void> {
  const broker = new Broker(SETTINGS)
  await broker.start()
  try {
    const first = await RawClient.open(broker.kafkaPort)
    await createTopic(first, 'many', partitions)
    const bystander = new Bystander(broker.kafkaPort)
    const members: MemberState[] = await Promise.all(
      Array.from({ length: size }, async (_, i) => {
        const client = await RawClient.open(broker.kafkaPort)
        return { memberId: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, client, epoch: 0, owned: [] }
      }),
    )
    const before = residentMib(broker.pid)
    const from = Date.now()
    let errors = (await Promise.all(members.map((member) => beat(member, true)))).filter((code) => code !== 0).length
    const shared = (): boolean => {
      const all = members.flatMap(({ owned }) => owned.flatMap((each) => each.partitions))
      return all.length === partitions && new Set(all).size === partitions && members.every(({ owned }) => owned.length > 0)
    }
    let rounds = 0
    for (; !shared() && rounds < 60; rounds++) {
      await sleep(500)
      errors += (await Promise.all(members.map((member) => beat(member, false)))).filter((code) => code !== 0).length
    }
    check(`${size} members share ${partitions} partitions, each with one owner`, shared(), `${rounds} rounds, ${Date.now() - from} ms`)
    check('none of them was refused', errors === 0, `${errors} errors`)
    const grown = residentMib(broker.pid) - before
    check('memory of a member is bounded', grown * 1024 < size * MEMBER_MAX_KIB + 256 * 1024, `${grown.toFixed(0)} MiB more`)
    const left = await Promise.all(
      members.map(({ client, memberId }) => client.call(68, HEARTBEAT_VERSION, { groupId: 'crowd', memberId, memberEpoch: -1 }, 120_000)),
    )
    check(
      'all of them leave',
      left.every(({ errorCode }) => errorCode === 0),
      '',
    )
    await bystander.end()
    for (const { client } of members) await client.destroy()
    await first.destroy()
  } finally {
    await broker.destroy()
  }
}

/** Groups with an offset each, which are there after a restart, are listed, and go when they are deleted. */
async function manyGroups(count: number): Promise<void> {
  const broker = new Broker(SETTINGS)
  await broker.start()
  try {
    const names = Array.from({ length: count }, (_, i) => `group-${String(i).padStart(5, '0')}`)
    const first = await RawClient.open(broker.kafkaPort)
    await createTopic(first, 'many', 1)
    const bystander = new Bystander(broker.kafkaPort)
    const clients = await Promise.all(Array.from({ length: 20 }, () => RawClient.open(broker.kafkaPort)))
    const before = residentMib(broker.pid)
    let wrong = 0
    await Promise.all(
      clients.map(async (client, at) => {
        for (let i = at; i < names.length; i += clients.length) {
          const topics = [{ name: 'many', partitions: [{ partitionIndex: 0, committedOffset: i, committedMetadata: '' }] }]
          const request = { groupId: names[i], generationIdOrMemberEpoch: -1, memberId: '', topics }
          const answer = await client.call(8, COMMIT_VERSION, request, 60_000)
          if (answer.topics[0].partitions[0].errorCode !== 0) wrong++
        }
      }),
    )
    check(`${count} groups commit an offset each`, wrong === 0, `${wrong} refused`)
    const grown = residentMib(broker.pid) - before
    check('memory of a group is bounded', grown * 1024 < count * GROUP_MAX_KIB + 256 * 1024, `${grown.toFixed(0)} MiB more`)
    await bystander.end()
    for (const client of [first, ...clients]) await client.destroy()
    await broker.restart('SIGKILL')
    const again = await RawClient.open(broker.kafkaPort)
    const listed = await again.call(16, 4, { statesFilter: [] }, 60_000)
    const found = new Set(listed.groups.map(({ groupId }) => groupId))
    check(
      'all of them are there after kill -9',
      names.every((name) => found.has(name)),
      `${found.size} listed`,
    )
    const asked = names.slice(-10)
    const groupsAsked = asked.map((groupId) => ({ groupId, topics: [{ name: 'many', partitionIndexes: [0] }] }))
    const fetched = await again.call(9, 8, { groups: groupsAsked, requireStable: true }, 60_000)
    const offsets = fetched.groups.map(({ topics }) => topics[0].partitions[0].committedOffset)
    check(
      'with their offsets',
      offsets.every((offset, i) => offset === count - 10 + i),
      offsets.join(' '),
    )
    const deleted = await again.call(42, 2, { groupsNames: names }, 120_000)
    check(
      'they are deleted in one request',
      deleted.results.every(({ errorCode }) => errorCode === 0),
      `${deleted.results.length} answered`,
    )
    note(`${residentMib(broker.pid).toFixed(0)} MiB resident in the end`)
    await again.destroy()
  } finally {
    await broker.destroy()
  }
}
