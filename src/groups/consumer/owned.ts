import type { OwnedPartitions } from '../../metadata/commands.ts'
import type { Owned } from './types.ts'

const byTopic = (a: OwnedPartitions, b: OwnedPartitions): number => (a.topicId < b.topicId ? -1 : a.topicId > b.topicId ? 1 : 0)

/** By topic id, partitions ascending, each once, no topic without partitions: the form in which sets are stored and compared. */
export function toOwned(sets: ReadonlyMap<string, ReadonlySet<number>>): OwnedPartitions[] {
  const owned: OwnedPartitions[] = []
  for (const [topicId, partitions] of sets) {
    if (partitions.size > 0) owned.push({ topicId, partitions: [...partitions].sort((a, b) => a - b) })
  }
  return owned.sort(byTopic)
}

export function toSets(owned: Owned): Map<string, Set<number>> {
  const sets = new Map<string, Set<number>>()
  for (const { topicId, partitions } of owned) {
    const known = sets.get(topicId)
    if (known === undefined) sets.set(topicId, new Set(partitions))
    else for (const partition of partitions) known.add(partition)
  }
  return sets
}

/** The partitions of the set that the predicate takes. */
export function select(owned: Owned, takes: (topicId: string, partition: number) => boolean): OwnedPartitions[] {
  const selected: OwnedPartitions[] = []
  for (const { topicId, partitions } of owned) {
    const taken = partitions.filter((partition) => takes(topicId, partition))
    if (taken.length > 0) selected.push({ topicId, partitions: taken })
  }
  return selected
}

export function union(a: Owned, b: Owned): OwnedPartitions[] {
  return toOwned(toSets([...a, ...b]))
}

export function overlaps(a: Owned, b: Owned): boolean {
  const sets = toSets(b)
  return a.some(({ topicId, partitions }) => partitions.some((partition) => sets.get(topicId)?.has(partition) === true))
}

export function isSubset(inner: Owned, outer: Owned): boolean {
  const sets = toSets(outer)
  return inner.every(({ topicId, partitions }) => partitions.every((partition) => sets.get(topicId)?.has(partition) === true))
}

/** Both in the form of toOwned. */
export function isSame(a: Owned, b: Owned): boolean {
  if (a.length !== b.length) return false
  return a.every(({ topicId, partitions }, i) => {
    const other = b[i]
    return (
      topicId === other.topicId && partitions.length === other.partitions.length && partitions.every((p, at) => p === other.partitions[at])
    )
  })
}

export function countOf(owned: Owned): number {
  return owned.reduce((count, { partitions }) => count + partitions.length, 0)
}
