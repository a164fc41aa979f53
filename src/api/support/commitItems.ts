import { Errors } from '../../../protocol/index.ts'
import type { CommitItem } from '../../groups/types.ts'
import type { StateView } from '../../metadata/view.ts'
import { findTopic } from './topics.ts'

interface RequestTopic {
  readonly name: string
  readonly topicId: string
  readonly partitions: readonly {
    readonly partitionIndex: number
    readonly committedOffset: number
    readonly committedLeaderEpoch: number
    readonly committedMetadata: string | null
  }[]
}

/** For each partition of a request its error, or where its item is. */
export type Places = readonly (readonly ({ readonly error: number } | { readonly at: number })[])[]

/** What OffsetCommit and TxnOffsetCommit ask for, without the partitions that are not there. */
export function commitItems(state: StateView, topics: readonly RequestTopic[], byId: boolean): { items: CommitItem[]; places: Places } {
  const items: CommitItem[] = []
  const places = topics.map((topic): ({ readonly error: number } | { readonly at: number })[] => {
    const found = findTopic(state, byId ? { byId, topicId: topic.topicId } : { byId, name: topic.name })
    return topic.partitions.map(({ partitionIndex, committedOffset, committedLeaderEpoch, committedMetadata }) => {
      if (typeof found === 'number') return { error: found }
      if (partitionIndex < 0 || partitionIndex >= found.partitions) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION }
      const item = { topic: found.topic, partition: partitionIndex, offset: committedOffset, leaderEpoch: committedLeaderEpoch }
      return { at: items.push({ ...item, metadata: committedMetadata ?? '' }) - 1 }
    })
  })
  return { items, places }
}
