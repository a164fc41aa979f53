import type { MessageOf, Apis } from '../../../protocol/index.ts'
import type { ApiWorld } from './harness.ts'

type Joined = MessageOf<Apis[11]['response']>

export interface MemberOptions {
  readonly groupId?: string
  readonly clientId?: string
  readonly instanceId?: string | null
  readonly metadata?: Uint8Array
  readonly sessionTimeoutMs?: number
}

/** A group member as a client library drives one: JoinGroup v9 (with an id first, KIP-394), SyncGroup v5, Heartbeat v4. */
export class TestMember {
  readonly #world: ApiWorld
  readonly #options: MemberOptions
  memberId = ''
  generation = -1

  constructor(world: ApiWorld, options: MemberOptions = {}) {
    this.#world = world
    this.#options = options
  }

  get groupId(): string {
    return this.#options.groupId ?? 'g'
  }

  async join(): Promise<Joined> {
    const { instanceId = null, metadata = Buffer.from('m'), sessionTimeoutMs = 10_000, clientId } = this.#options
    for (;;) {
      const joined = await this.#world.call(
        11,
        9,
        {
          groupId: this.groupId,
          sessionTimeoutMs,
          rebalanceTimeoutMs: 30_000,
          memberId: this.memberId,
          groupInstanceId: instanceId,
          protocolType: 'consumer',
          protocols: [{ name: 'range', metadata }],
        },
        clientId,
      )
      if (joined.errorCode === 0) this.generation = joined.generationId
      if (joined.errorCode === 0 || joined.errorCode === 79) this.memberId = joined.memberId
      if (joined.errorCode !== 79) return joined
    }
  }

  sync(assignments: Record<string, Uint8Array> = {}): Promise<MessageOf<Apis[14]['response']>> {
    return this.#world.call(14, 5, {
      groupId: this.groupId,
      generationId: this.generation,
      memberId: this.memberId,
      groupInstanceId: this.#options.instanceId ?? null,
      protocolType: 'consumer',
      protocolName: 'range',
      assignments: Object.entries(assignments).map(([memberId, assignment]) => ({ memberId, assignment })),
    })
  }

  async heartbeat(): Promise<number> {
    const { groupId, generation: generationId, memberId } = this
    const beat = await this.#world.call(12, 4, { groupId, generationId, memberId, groupInstanceId: this.#options.instanceId ?? null })
    return beat.errorCode
  }
}

/** Lets the members join together, the first one leading, and gives each what `assign` says. */
export async function formGroup(
  world: ApiWorld,
  members: readonly TestMember[],
  assign: (index: number) => Uint8Array | null,
): Promise<Uint8Array[]> {
  const joins: Promise<Joined>[] = []
  for (const member of members) {
    joins.push(member.join())
    await world.clock.advance(0)
  }
  await world.clock.advance(3_000)
  await world.clock.advance(3_000)
  const joined = await Promise.all(joins)
  const leader = members.findIndex((member) => member.memberId === joined[0].leader)
  const assignments: Record<string, Uint8Array> = {}
  members.forEach((member, i) => {
    const bytes = assign(i)
    if (bytes !== null) assignments[member.memberId] = bytes
  })
  const synced = await Promise.all(members.map((member, i) => member.sync(i === leader ? assignments : {})))
  return synced.map((result) => result.assignment)
}
