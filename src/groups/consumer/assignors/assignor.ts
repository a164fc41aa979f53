import type { Owned } from '../types.ts'

/** A member as an assignor sees it. */
export interface AssignedMember {
  readonly memberId: string
  readonly instanceId: string | null
  /** Ids of existing topics it subscribes to. */
  readonly topicIds: readonly string[]
  /** What it was to have before. */
  readonly target: Owned
}

/** Members and the number of partitions of each topic; the order of the members does not matter. */
export interface AssignorInput {
  readonly members: readonly AssignedMember[]
  readonly topics: ReadonlyMap<string, number>
}

/** A pure function: what each member shall have, by member id. Each subscribed partition goes to exactly one member. */
export type Assignor = (input: AssignorInput) => Map<string, Map<string, Set<number>>>

/** Static members first, by instance id, then the others by member id: a static member keeps its place when its id changes. */
export function inOrder(members: readonly AssignedMember[]): AssignedMember[] {
  const key = ({ instanceId, memberId }: AssignedMember): string => (instanceId === null ? `1${memberId}` : `0${instanceId}`)
  return [...members].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

export function give(to: Map<string, Set<number>>, topicId: string, partition: number): void {
  const known = to.get(topicId)
  if (known === undefined) to.set(topicId, new Set([partition]))
  else known.add(partition)
}
