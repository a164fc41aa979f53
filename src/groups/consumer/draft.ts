import type { ChangeConsumerGroup, ConsumerGroupHead, ConsumerMember } from '../../metadata/commands.ts'
import type { ConsumerGroupView } from '../../metadata/view.ts'
import { withoutEpochs } from './owned.ts'
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
  /** A member asks for another assignor. */
  assignorsChanged = false
  /** A member was taken out, and none took its place. */
  hasFenced = false
  /** Who holds a partition, or has not given it up yet; made when first asked for. */
  #holders: Map<string, Map<number, string>> | null = null
  readonly #statics = new Map<string, string>()

  readonly #before: ConsumerGroupView | null
  readonly #isUpgrade: boolean

  /** `isUpgrade`: `stored` was made of a classic group and is not stored yet. */
  constructor(groupId: string, stored: ConsumerGroupView | null, isUpgrade = false) {
    this.groupId = groupId
    this.#before = stored
    this.#isUpgrade = isUpgrade
    this.head = stored?.head ?? { groupId, epoch: 0, assignmentEpoch: 0, topicsHash: '', assignor: '', stateTimeMs: 0 }
    this.#members = new Map(stored?.members)
    for (const { memberId, instanceId } of this.#members.values()) if (instanceId !== null) this.#statics.set(instanceId, memberId)
  }

  get size(): number {
    return this.#members.size
  }

  /** The epoch of the group before this draft. */
  get epochBefore(): number {
    return this.#before?.head.epoch ?? 0
  }

  /** Members of the classic protocol are left, and the last one of the other protocol goes with this draft. */
  get turnsClassic(): boolean {
    if (this.#members.size === 0 || this.#before === null) return false
    for (const { classic } of this.#members.values()) if (!classic) return false
    for (const { classic } of this.#before.members.values()) if (!classic) return true
    return false
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

  /**
   * What has to be stored, without the epoch of the shard; null when nothing changed. With `revisions` (level 3) it counts only for the
   * group that it was made for, so that a draft whose outcome is unknown and the next one never mix.
   */
  command(revisions: boolean): Omit<ChangeConsumerGroup, 'shardEpoch'> | null {
    if (!this.#headChanged && this.#changed.size === 0 && this.#removed.size === 0) return null
    const changed = [...this.#changed].sort().map((memberId) => this.#members.get(memberId)!)
    const removed = [...this.#removed].sort()
    if (!revisions) return { head: { ...this.head, assignedAtMs: undefined }, members: changed.map(asBefore), removed }
    // All members are new to what is stored.
    const members = this.#isUpgrade ? this.members() : changed
    return { head: { ...this.head, revision: this.nextRevision }, members, removed, upgrades: this.#isUpgrade || undefined }
  }

  get nextRevision(): number {
    return (this.#before?.head.revision ?? 0) + 1
  }
}

/** As members were before level 3. */
function asBefore(member: ConsumerMember): ConsumerMember {
  return { ...member, assigned: withoutEpochs(member.assigned), revoking: withoutEpochs(member.revoking) }
}
