import { describe, expect, it } from 'vitest'
import { FrazilError } from '../../../src/base/errors.ts'
import { Errors } from '../../../protocol/errors.ts'
import { groupWorld, joinRequest, restart, settle, type GroupWorld } from './harness.ts'

/** A repeatable source of numbers below `n`. */
function source(seed: number): (n: number) => number {
  let state = seed * 2654435761
  return (n) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) >>> 0
    return state % n
  }
}

const BACK_TO_JOIN: ReadonlySet<number> = new Set([
  Errors.REBALANCE_IN_PROGRESS,
  Errors.ILLEGAL_GENERATION,
  Errors.COORDINATOR_NOT_AVAILABLE,
  Errors.NOT_COORDINATOR,
])

/** A client that follows the protocol, one step at a time, and forgets a request whose broker is gone. */
class Client {
  world: GroupWorld
  readonly instanceId: string | null
  memberId = ''
  generation = -1
  assigned: string | null = null
  busy = false
  readonly unexpected: string[] = []

  constructor(world: GroupWorld, instanceId: string | null) {
    this.world = world
    this.instanceId = instanceId
  }

  moveTo(world: GroupWorld): void {
    this.world = world
    this.busy = false
  }

  step(): void {
    if (this.busy) return
    this.busy = true
    const { world } = this
    const done = (): void => {
      if (this.world === world) this.busy = false
    }
    void (this.assigned === null ? this.#join(world) : this.#beat(world)).then(done)
  }

  #failed(error: number, what: string): void {
    this.assigned = null
    if (error === Errors.UNKNOWN_MEMBER_ID) this.memberId = ''
    else if (!BACK_TO_JOIN.has(error)) this.unexpected.push(`${what} ${error}`)
  }

  async #join(world: GroupWorld): Promise<void> {
    const { instanceId, memberId } = this
    const joined = await world.groups.join(
      joinRequest({ instanceId, memberId, requireKnownMemberId: instanceId === null, sessionTimeoutMs: 6_000, rebalanceTimeoutMs: 6_000 }),
    )
    if (this.world !== world) return
    if (joined.error === Errors.MEMBER_ID_REQUIRED) {
      this.memberId = joined.memberId
      return
    }
    if (joined.error !== 0) return this.#failed(joined.error, 'join')
    this.memberId = joined.memberId
    this.generation = joined.generation
    const parts = joined.skipAssignment ? [] : joined.members
    const assignments = parts.map((member, i) => ({ memberId: member.memberId, assignment: Buffer.from(`${joined.generation}/${i}`) }))
    const base = { groupId: 'g', generation: joined.generation, memberId: joined.memberId, instanceId }
    const synced = await world.groups.sync({ ...base, protocolType: null, protocolName: null, assignments })
    if (this.world !== world) return
    if (synced.error !== 0) return this.#failed(synced.error, 'sync')
    this.assigned = Buffer.from(synced.assignment).toString()
  }

  async #beat(world: GroupWorld): Promise<void> {
    const { memberId, generation, instanceId } = this
    const error = world.groups.heartbeat({ groupId: 'g', generation, memberId, instanceId })
    await settle()
    if (this.world === world && error !== 0) this.#failed(error, 'heartbeat')
  }
}

/** Members of the newest generation hold different parts of it. */
function overlaps(clients: readonly Client[]): string[] {
  const held = clients.map(({ assigned }) => assigned).filter((assigned) => assigned !== null && assigned !== '')
  return held.filter((assigned, i) => held.indexOf(assigned) !== i) as string[]
}

async function run(seed: number): Promise<void> {
  const random = source(seed)
  let world = await groupWorld({ settings: { initialRebalanceDelayMs: 1_000 } })
  const clients = Array.from({ length: 5 }, (_, i) => new Client(world, i < 2 ? `static-${i}` : null))
  for (let step = 0; step < 60; step++) {
    const dice = random(20)
    if (dice === 0) {
      world.log.beforeAppend = () => Promise.reject(new FrazilError('STORE_FULL', 'no space left'))
    } else if (dice <= 2) world.log.beforeAppend = () => {}
    else if (dice === 3) {
      const next = await restart(world, { initialRebalanceDelayMs: 1_000 })
      world.groups.close()
      world = next
      for (const client of clients) client.moveTo(world)
    } else if (dice === 4) {
      const client = clients[2 + random(3)]
      world.groups.leave('g', [{ memberId: client.memberId, instanceId: null }])
    }
    for (const client of clients) if (random(4) > 0) client.step()
    await world.clock.advance(random(3) * 500)
    expect({ seed, step, overlaps: overlaps(clients) }).toEqual({ seed, step, overlaps: [] })
  }
  world.log.beforeAppend = () => {}
  for (let i = 0; i < 60; i++) {
    for (const client of clients) client.step()
    await world.clock.advance(500)
  }
  const { state, members } = world.groups.describe('g')
  expect({ seed, state, members: members.length }).toEqual({ seed, state: 'Stable', members: 5 })
  expect(new Set(clients.map(({ generation }) => generation)).size).toBe(1)
  expect(clients.map(({ assigned }) => assigned).toSorted()).toEqual([0, 1, 2, 3, 4].map((i) => `${clients[0].generation}/${i}`))
  expect(clients.flatMap(({ unexpected }) => unexpected)).toEqual([])
  expect(
    world.engine.state
      .group('g')!
      .members.map((member) => Buffer.from(member.assignment).toString())
      .toSorted(),
  ).toEqual(clients.map(({ assigned }) => assigned).toSorted())
  world.groups.close()
}

describe('a group under random joins, leaves, restarts and a log that fails', () => {
  for (let seed = 1; seed <= 12; seed++) {
    it(`never gives one part of a generation twice, and settles: seed ${seed}`, async () => {
      await expect(run(seed)).resolves.toBeUndefined()
    })
  }
})
