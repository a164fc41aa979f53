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

/** The partitions of the set that the predicate takes, with the epochs in which they were got. */
export function select(owned: Owned, takes: (topicId: string, partition: number) => boolean): OwnedPartitions[] {
  const selected: OwnedPartitions[] = []
  for (const { topicId, partitions, epochs } of owned) {
    const places = partitions.flatMap((partition, i) => (takes(topicId, partition) ? [i] : []))
    if (places.length === partitions.length) selected.push({ topicId, partitions, epochs })
    else if (places.length > 0) selected.push({ topicId, partitions: at(partitions, places), epochs: epochs && at(epochs, places) })
  }
  return selected
}

function at(values: readonly number[], places: readonly number[]): number[] {
  return places.map((place) => values[place])
}

/** Two sets without a partition in common. Epochs stay when both have them. */
export function union(a: Owned, b: Owned): OwnedPartitions[] {
  const others = new Map(b.map((each) => [each.topicId, each]))
  const joined = a.map((each) => {
    const other = others.get(each.topicId)
    others.delete(each.topicId)
    return other === undefined ? each : merged(each, other)
  })
  return [...joined, ...others.values()].sort(byTopic)
}

function merged(a: OwnedPartitions, b: OwnedPartitions): OwnedPartitions {
  const all = [...a.partitions.map((partition, i) => [partition, a.epochs?.[i]]), ...b.partitions.map((p, i) => [p, b.epochs?.[i]])]
  all.sort(([left], [right]) => left! - right!)
  const epochs = all.map(([, epoch]) => epoch)
  const isWhole = epochs.every((epoch) => epoch !== undefined)
  return { topicId: a.topicId, partitions: all.map(([partition]) => partition!), epochs: isWhole ? epochs : undefined }
}

/** The same set, got in this epoch (KIP-1251). */
export function gotIn(owned: Owned, epoch: number): OwnedPartitions[] {
  return owned.map(({ topicId, partitions }) => ({ topicId, partitions, epochs: partitions.map(() => epoch) }))
}

/** The epoch in which a partition of the set was got: null when it is not in the set, undefined when nobody knows. */
export function epochOf(owned: Owned, topicId: string, partition: number): number | null | undefined {
  const entry = owned.find((each) => each.topicId === topicId)
  const place = entry?.partitions.indexOf(partition) ?? -1
  return place < 0 ? null : entry!.epochs?.[place]
}

/** As before level 3. */
export function withoutEpochs(owned: Owned): OwnedPartitions[] {
  return owned.map(({ topicId, partitions }) => ({ topicId, partitions }))
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
