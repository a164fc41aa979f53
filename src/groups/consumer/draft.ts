import type { ChangeConsumerGroup, ConsumerGroupHead, ConsumerMember } from '../../metadata/commands.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import type { Owned } from './types.ts'

/**
 * A consumer group as it will be: the stored state with the steps of some requests applied. Nothing of it counts before its
 * `command` is durable, so a write that fails leaves nothing behind.
 */
export class Draft {
  readonly groupId: string
  head: ConsumerGroupHead
  readonly #members: Map<string, ConsumerMember>
  readonly #changed = new Set<string>()
  readonly #removed = new Set<string>()
  #headChanged = false
  #bumped = false
  /** A member came or went, or changed what it subscribes to. */
  subscriptionsChanged = false
  /** Who holds a partition, or has not given it up yet; made when first asked for. */
  #holders: Map<string, Map<number, string>> | null = null
  readonly #statics = new Map<string, string>()

  constructor(groupId: string, stored: ConsumerGroupView | null) {
    this.groupId = groupId
    this.head = stored?.head ?? { groupId, epoch: 0, assignmentEpoch: 0, topicsHash: '', assignor: '', stateTimeMs: 0 }
    this.#members = new Map(stored?.members)
    for (const { memberId, instanceId } of this.#members.values()) if (instanceId !== null) this.#statics.set(instanceId, memberId)
  }

  get size(): number {
    return this.#members.size
  }

  member(memberId: string): ConsumerMember | null {
    return this.#members.get(memberId) ?? null
  }

  staticMember(instanceId: string): ConsumerMember | null {
    return this.member(this.#statics.get(instanceId) ?? '')
  }

  /** In order of member id. */
  members(): ConsumerMember[] {
    return [...this.#members.values()].sort((a, b) => (a.memberId < b.memberId ? -1 : 1))
  }

  set(member: ConsumerMember): void {
    const { memberId, instanceId } = member
    this.#forget(this.#members.get(memberId))
    this.#members.set(memberId, member)
    if (instanceId !== null) this.#statics.set(instanceId, memberId)
    if (this.#holders !== null) this.#hold(member)
    this.#changed.add(memberId)
    this.#removed.delete(memberId)
  }

  remove(member: ConsumerMember): void {
    const { memberId, instanceId } = member
    this.#forget(this.#members.get(memberId))
    this.#members.delete(memberId)
    if (instanceId !== null && this.#statics.get(instanceId) === memberId) this.#statics.delete(instanceId)
    this.#changed.delete(memberId)
    this.#removed.add(memberId)
  }

  /** The next group epoch, once a draft. */
  bump(nowMs: number): void {
    if (this.#bumped) return
    this.#bumped = true
    this.changeHead({ epoch: this.head.epoch + 1, stateTimeMs: nowMs })
  }

  changeHead(more: Partial<ConsumerGroupHead>): void {
    this.head = { ...this.head, ...more }
    this.#headChanged = true
  }

  /** The member that holds the partition or still has to give it up, or null. */
  holder(topicId: string, partition: number): string | null {
    if (this.#holders === null) {
      this.#holders = new Map()
      for (const member of this.#members.values()) this.#hold(member)
    }
    return this.#holders.get(topicId)?.get(partition) ?? null
  }

  #hold({ memberId, assigned, revoking }: ConsumerMember): void {
    for (const { topicId, partitions } of [...assigned, ...revoking]) {
      let holders = this.#holders!.get(topicId)
      if (holders === undefined) this.#holders!.set(topicId, (holders = new Map()))
      for (const partition of partitions) holders.set(partition, memberId)
    }
  }

  #forget(member: ConsumerMember | undefined): void {
    if (this.#holders === null || member === undefined) return
    const drop = (owned: Owned): void => {
      for (const { topicId, partitions } of owned) {
        const holders = this.#holders!.get(topicId)
        for (const partition of partitions) if (holders?.get(partition) === member.memberId) holders.delete(partition)
      }
    }
    drop(member.assigned)
    drop(member.revoking)
  }

  /** What has to be stored, without the epoch of the shard; null when nothing changed. */
  command(): Omit<ChangeConsumerGroup, 'shardEpoch'> | null {
    if (!this.#headChanged && this.#changed.size === 0 && this.#removed.size === 0) return null
    const members = [...this.#changed].sort().map((memberId) => this.#members.get(memberId)!)
    return { head: this.head, members, removed: [...this.#removed].sort() }
  }
}
