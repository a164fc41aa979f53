import type { TopicView } from '../view.ts'

export class TopicRow implements TopicView {
  readonly topic: number
  readonly topicId: string
  readonly name: string
  readonly createdMs: number
  /** Slot of each partition. */
  readonly slots: number[]
  readonly configs: Map<string, string>
  configVersion: number
  unconvertedBytes = 0
  unconvertedRecords = 0
  /** What of these lies at or above the last stable offsets. */
  unstableBytes = 0
  unstableRecords = 0

  constructor(row: {
    readonly topic: number
    readonly topicId: string
    readonly name: string
    readonly createdMs: number
    readonly slots: number[]
    readonly configs: Map<string, string>
    readonly configVersion: number
  }) {
    this.topic = row.topic
    this.topicId = row.topicId
    this.name = row.name
    this.createdMs = row.createdMs
    this.slots = row.slots
    this.configs = row.configs
    this.configVersion = row.configVersion
  }

  get partitions(): number {
    return this.slots.length
  }
}

/** Live topics. Numbers are given in order and never again, so iteration is in order of number. */
export class Topics {
  nextNumber = 1
  readonly byNumber = new Map<number, TopicRow>()
  readonly byName = new Map<string, TopicRow>()
  readonly byId = new Map<string, TopicRow>()
  /** Names with '.' as '_': metric names cannot tell the two apart, so Kafka forbids both to exist. */
  readonly #collisions = new Set<string>()

  add(row: TopicRow): void {
    this.byNumber.set(row.topic, row)
    this.byName.set(row.name, row)
    this.byId.set(row.topicId, row)
    this.#collisions.add(row.name.replaceAll('.', '_'))
  }

  remove(row: TopicRow): void {
    this.byNumber.delete(row.topic)
    this.byName.delete(row.name)
    this.byId.delete(row.topicId)
    this.#collisions.delete(row.name.replaceAll('.', '_'))
  }

  collides(name: string): boolean {
    return this.#collisions.has(name.replaceAll('.', '_'))
  }

  /** Slot of a partition, or -1. */
  slot(topic: number, partition: number): number {
    return this.byNumber.get(topic)?.slots[partition] ?? -1
  }
}
