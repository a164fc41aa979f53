import { give, inOrder, type AssignedMember, type Assignor, type AssignorInput } from './assignor.ts'

interface Share {
  readonly memberId: string
  readonly subscribed: ReadonlySet<string>
  readonly given: Map<string, Set<number>>
  count: number
}

/**
 * `uniform`: as even as subscriptions allow, and as little moved as that allows. Members with one subscription differ by one partition at
 * most. With different ones no partition can go to another subscriber that has at least two less.
 */
export const uniform: Assignor = (input) => {
  const shares = keep(input)
  const free = unassigned(input, shares)
  if (isHomogeneous(input.members)) level(shares, free, input)
  else spread(shares, free)
  return new Map(shares.map(({ memberId, given }) => [memberId, given]))
}

function isHomogeneous(members: readonly AssignedMember[]): boolean {
  const key = ({ topicIds }: AssignedMember): string => [...topicIds].sort().join()
  return members.every((member) => key(member) === key(members[0]))
}

/** Everybody with what it had before, as far as it exists, is subscribed to, and nobody before it in order had it too. */
function keep({ members, topics }: AssignorInput): Share[] {
  const taken = new Map<string, Set<number>>()
  return inOrder(members).map(({ memberId, topicIds, target }) => {
    const share: Share = { memberId, subscribed: new Set(topicIds), given: new Map(), count: 0 }
    for (const { topicId, partitions } of target) {
      if (!share.subscribed.has(topicId)) continue
      for (const partition of partitions) {
        if (partition >= (topics.get(topicId) ?? 0) || taken.get(topicId)?.has(partition) === true) continue
        give(taken, topicId, partition)
        give(share.given, topicId, partition)
        share.count++
      }
    }
    return share
  })
}

interface Place {
  readonly topicId: string
  readonly partition: number
}

function unassigned({ topics }: AssignorInput, shares: readonly Share[]): Place[] {
  const free: Place[] = []
  for (const topicId of [...topics.keys()].sort()) {
    if (!shares.some(({ subscribed }) => subscribed.has(topicId))) continue
    const taken = new Set<number>()
    for (const { given } of shares) for (const partition of given.get(topicId) ?? []) taken.add(partition)
    for (let partition = 0; partition < topics.get(topicId)!; partition++) if (!taken.has(partition)) free.push({ topicId, partition })
  }
  return free
}

/** The fullest keep the odd ones, so that the fewest partitions move. */
function level(shares: readonly Share[], free: Place[], { topics }: AssignorInput): void {
  if (shares.length === 0) return
  let total = 0
  for (const [topicId, count] of topics) if (shares[0].subscribed.has(topicId)) total += count
  const quota = Math.floor(total / shares.length)
  const odd = total % shares.length
  const quotas = new Map([...shares].sort((a, b) => b.count - a.count).map((share, i) => [share, quota + (i < odd ? 1 : 0)]))
  for (const share of shares) giveUp(share, quotas.get(share)!, free)
  let next = 0
  for (const share of shares) for (; share.count < quotas.get(share)!; next++) put(share, free[next])
}

/** Partitions that few may take go first; then single moves go on while one helps: each lowers the sum of squares, so they end. */
function spread(shares: readonly Share[], free: Place[]): void {
  const takers = new Map<string, Share[]>()
  const takersOf = (topicId: string): Share[] => {
    let known = takers.get(topicId)
    if (known === undefined) takers.set(topicId, (known = shares.filter(({ subscribed }) => subscribed.has(topicId))))
    return known
  }
  const emptiest = (topicId: string): Share => takersOf(topicId).reduce((best, share) => (share.count < best.count ? share : best))
  free.sort((a, b) => takersOf(a.topicId).length - takersOf(b.topicId).length)
  for (const place of free) put(emptiest(place.topicId), place)
  for (let moved = true; moved;) {
    moved = false
    for (const share of [...shares].sort((a, b) => b.count - a.count)) {
      for (const [topicId, partitions] of share.given) {
        for (const partition of [...partitions].toReversed()) {
          const other = emptiest(topicId)
          if (share.count - other.count < 2) break
          partitions.delete(partition)
          share.count--
          put(other, { topicId, partition })
          moved = true
        }
      }
    }
  }
}

function put(share: Share, { topicId, partition }: Place): void {
  give(share.given, topicId, partition)
  share.count++
}

/** What is above the quota: always the last partition of the topic of which it has most, so that topics stay spread. */
function giveUp(share: Share, quota: number, free: Place[]): void {
  if (share.count <= quota) return
  const left = Array.from(share.given, ([topicId, partitions]) => ({
    topicId,
    partitions,
    ascending: [...partitions].sort((a, b) => a - b),
  }))
  for (; share.count > quota; share.count--) {
    const most = left.reduce((best, each) => {
      const more = each.ascending.length - best.ascending.length
      return more > 0 || (more === 0 && each.topicId < best.topicId) ? each : best
    })
    const partition = most.ascending.pop()!
    most.partitions.delete(partition)
    free.push({ topicId: most.topicId, partition })
  }
}
