export interface CreateTopic {
  readonly name: string
  /** Canonical lower-case UUID text, random v4, chosen by the proposer. */
  readonly topicId: string
  readonly partitions: number
  readonly configs: Readonly<Record<string, string>>
  /** The table's place: namespace, name (unique ignoring case; apply appends _2, _3 … when taken), and location key. */
  readonly table: { readonly namespace: string; readonly name: string; readonly uuid: string }
}

/**
 * Deletes a topic: its WAL extents die at once, producers and group offsets go. `keepTableAs` renames the table
 * ('' drops it: its files and metadata enter the deletion queue). Unconverted rows should have been converted before.
 */
export interface DeleteTopic {
  readonly topic: number
  readonly keepTableAs: string
  readonly graceMs: number
}

/** Since level 2. Raises the number of partitions of a topic to `partitions`; refused with INVALID_PARTITIONS when that is no increase. */
export interface CreatePartitions {
  readonly topic: number
  readonly partitions: number
}
