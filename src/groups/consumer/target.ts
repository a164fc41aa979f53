import type { ConsumerMember } from '../../metadata/commands.ts'
import type { StateView } from '../../metadata/view.ts'
import type { Assignor } from './assignors/assignor.ts'
import { range } from './assignors/range.ts'
import { uniform } from './assignors/uniform.ts'
import type { Draft } from './draft.ts'
import { isSame, toOwned } from './owned.ts'
import type { Subscriptions } from './subscriptions.ts'

/** The assignors there are, by Kafka's names. */
export const ASSIGNORS: ReadonlyMap<string, Assignor> = new Map([
  ['uniform', uniform],
  ['range', range],
])

/** Computes what every member shall have, for the group's epoch. */
export function retarget(draft: Draft, subscriptions: Subscriptions, state: StateView, assignors: readonly string[], nowMs: number): void {
  const members = draft.members()
  const name = preferred(members, assignors)
  const topics = new Map<string, number>()
  const seen = members.map((member) => {
    const topicIds: string[] = []
    for (const topicName of subscriptions.of(member)) {
      const topic = state.topicByName(topicName)
      if (topic === null) continue
      topicIds.push(topic.topicId)
      topics.set(topic.topicId, topic.partitions)
    }
    const { memberId, instanceId, target } = member
    return { memberId, instanceId, topicIds, target }
  })
  const given = ASSIGNORS.get(name)!({ members: seen, topics })
  for (const member of members) {
    const target = toOwned(given.get(member.memberId)!)
    if (!isSame(target, member.target)) draft.set({ ...member, target })
  }
  draft.changeHead({ assignmentEpoch: draft.head.epoch, assignor: name, assignedAtMs: nowMs })
}

/** Targets are computed again after the interval at the earliest, and at once where there are none yet (KIP-1263). */
export function mayRetarget({ head }: Draft, intervalMs: number, nowMs: number): boolean {
  const { assignedAtMs = 0 } = head
  return assignedAtMs === 0 || intervalMs === 0 || nowMs >= assignedAtMs + intervalMs
}

/** The one that most members ask for, the earlier of the configured on a tie; the first when nobody asks. */
export function preferred(members: readonly ConsumerMember[], assignors: readonly string[]): string {
  const votes = (name: string): number => members.filter(({ assignor }) => assignor === name).length
  return assignors.reduce((best, name) => (votes(name) > votes(best) ? name : best))
}
