import { errorName, Errors } from '../../../protocol/index.ts'
import { Endpoint, type Cluster } from './cluster.ts'
import type { Connection } from './connection.ts'

interface OffsetsResponse {
  readonly topics: readonly { readonly partitions: readonly { readonly errorCode: number; readonly offset?: number }[] }[]
}

interface CommitResponse {
  readonly topics: readonly { readonly partitions: readonly { readonly errorCode: number }[] }[]
}

interface FetchedOffsets {
  readonly groups?: readonly {
    readonly errorCode?: number
    readonly topics?: readonly { readonly partitions?: readonly { readonly errorCode: number; readonly committedOffset: number }[] }[]
  }[]
}

/** Codes that say that nothing was written. */
const REFUSALS = new Set<number>([Errors.NOT_COORDINATOR, Errors.COORDINATOR_NOT_AVAILABLE, Errors.COORDINATOR_LOAD_IN_PROGRESS])

const LATEST = -1
const EARLIEST = -2

/**
 * Asks what must be current (L8): ends, starts, committed offsets; trims now and then. Each prober has a group of its own
 * and commits rising offsets, so that what may be read back is known.
 */
export class Prober {
  readonly #cluster: Cluster
  readonly #endpoint: Endpoint
  readonly #name: string
  #groups = 0
  #group: string
  #commitAsked = -1
  #committed = -1

  constructor(cluster: Cluster, id: number) {
    this.#cluster = cluster
    this.#endpoint = new Endpoint(cluster)
    this.#name = `group-${id}`
    this.#group = this.#name
  }

  async run(): Promise<void> {
    const { world } = this.#cluster
    while (!this.#cluster.draining) {
      await world.sleep(world.delay(150))
      const connection = this.#endpoint.connect()
      if (connection === null) continue
      const partition = world.below(this.#cluster.partitions)
      const draw = world.random()
      const fine =
        draw < 0.35
          ? await this.#ends(connection, partition)
          : draw < 0.65
            ? await this.#commit(connection, partition)
            : draw < 0.97
              ? await this.#committedOffset(connection, partition)
              : await this.#trim(connection, partition)
      this.#cluster.operations++
      if (!fine || world.chance(0.2)) this.#endpoint.leave()
    }
  }

  async #ends(connection: Connection, partition: number): Promise<boolean> {
    const { history, topic, world } = this.#cluster
    const known = history.partitions[partition]
    const latest = world.chance(0.7)
    const least = latest ? known.ackedEnd : known.trimmed
    const partitions = [{ partitionIndex: partition, currentLeaderEpoch: -1, timestamp: latest ? LATEST : EARLIEST }]
    const request = { replicaId: -1, isolationLevel: 0, topics: [{ name: topic, partitions }], timeoutMs: 5000 }
    const reply = await connection.call(2, 9, request, (response: OffsetsResponse) => response.topics[0].partitions[0])
    if (reply.kind !== 'answer' || reply.value.errorCode !== Errors.NONE) return false
    const offset = reply.value.offset ?? -1
    const pod = connection.running.process.name
    world.note(`prober of ${this.#group}: ${latest ? 'end' : 'start'} of ${partition} is ${offset} says ${pod}`)
    if (offset < least)
      history.wrong(
        'stale',
        `${pod} says ${offset} for the ${latest ? 'end' : 'start'} of partition ${partition}, ${least} was acknowledged before`,
      )
    if (!latest && offset > known.trimAsked)
      history.wrong('lost', `${pod} says partition ${partition} begins at ${offset}, nobody asked for more than ${known.trimAsked}`)
    return true
  }

  async #commit(connection: Connection, partition: number): Promise<boolean> {
    const { topicId, world } = this.#cluster
    const offset = Math.max(this.#commitAsked, this.#committed) + 1
    this.#commitAsked = offset
    const partitions = [{ partitionIndex: 0, committedOffset: offset, committedLeaderEpoch: -1, committedMetadata: '' }]
    const request = {
      groupId: this.#group,
      generationIdOrMemberEpoch: -1,
      memberId: '',
      groupInstanceId: null,
      retentionTimeMs: -1,
      topics: [{ name: '', topicId, partitions }],
    }
    const reply = await connection.call(8, 10, request, (response: CommitResponse) => response.topics[0].partitions[0].errorCode)
    world.note(
      `${this.#group} commits ${offset} to ${connection.running.process.name}: ${reply.kind === 'answer' ? errorName(reply.value) : reply.kind}`,
    )
    if (reply.kind === 'answer' && reply.value === Errors.NONE) {
      this.#committed = offset
      return partition >= 0
    }
    // It may yet be applied, behind a later one: nothing is certain of this group any more.
    if (reply.kind !== 'answer' || !REFUSALS.has(reply.value)) {
      this.#group = `${this.#name}-${++this.#groups}`
      this.#committed = this.#commitAsked = -1
    }
    return false
  }

  async #committedOffset(connection: Connection, partition: number): Promise<boolean> {
    const { history, topicId } = this.#cluster
    const least = this.#committed
    const groups = [{ groupId: this.#group, memberId: null, memberEpoch: -1, topics: [{ name: '', topicId, partitionIndexes: [0] }] }]
    const request = { groupId: '', topics: null, groups, requireStable: true }
    const reply = await connection.call(9, 10, request, (response: FetchedOffsets) => {
      const group = response.groups?.[0]
      const found = group?.topics?.[0]?.partitions?.[0]
      return { error: group?.errorCode || found?.errorCode || 0, offset: found?.committedOffset ?? -1 }
    })
    if (reply.kind !== 'answer' || reply.value.error !== Errors.NONE) return false
    const { offset } = reply.value
    const pod = connection.running.process.name
    if (offset < least) history.wrong('stale', `${pod} says ${this.#group} is at ${offset}, ${least} was committed before`)
    if (offset > this.#commitAsked) history.wrong('phantom', `${pod} says ${this.#group} is at ${offset}, which nobody committed`)
    return partition >= 0
  }

  async #trim(connection: Connection, partition: number): Promise<boolean> {
    const { history, topic, world } = this.#cluster
    const known = history.partitions[partition]
    const offset = known.trimAsked + world.below(Math.max(1, Math.floor((known.ackedEnd - known.trimAsked) / 3)))
    known.trimAsked = Math.max(known.trimAsked, offset)
    const request = { topics: [{ name: topic, partitions: [{ partitionIndex: partition, offset }] }], timeoutMs: 5000 }
    const reply = await connection.call(21, 2, request, (response: CommitResponse) => response.topics[0].partitions[0].errorCode)
    world.note(`trim of ${partition} to ${offset}: ${reply.kind === 'answer' ? errorName(reply.value) : reply.kind}`)
    if (reply.kind !== 'answer' || reply.value !== Errors.NONE) return false
    known.trimmed = Math.max(known.trimmed, offset)
    return true
  }
}
