import { inOrder, type Assignor } from './assignor.ts'

/**
 * `range`: each topic by itself is cut into runs, one a subscribed member in their fixed order, longer ones first. Members with the same
 * subscription get the same partition numbers of every topic, which joins by key rest on.
 */
export const range: Assignor = ({ members, topics }) => {
  const ordered = inOrder(members)
  const subscriptions = new Map(ordered.map((member) => [member, new Set(member.topicIds)]))
  const given = new Map(ordered.map(({ memberId }) => [memberId, new Map<string, Set<number>>()]))
  for (const topicId of [...topics.keys()].sort()) {
    const count = topics.get(topicId)!
    const subscribed = ordered.filter((member) => subscriptions.get(member)!.has(topicId))
    if (subscribed.length === 0) continue
    const quota = Math.floor(count / subscribed.length)
    const longer = count % subscribed.length
    let next = 0
    subscribed.forEach(({ memberId }, i) => {
      const size = quota + (i < longer ? 1 : 0)
      if (size === 0) return
      given.get(memberId)!.set(topicId, new Set(Array.from({ length: size }, (_, n) => next + n)))
      next += size
    })
  }
  return given
}
