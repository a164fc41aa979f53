import type { Clock, Timer } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TableFile, TableView, TopicView } from '../../metadata/view.ts'
import type { TableMetrics } from '../convert/metrics.ts'
import type { Slots } from '../convert/slots.ts'
import type { FileResult } from '../convert/tasks.ts'
import type { Encoders } from '../convert/workers.ts'
import { layout } from '../iceberg/layout.ts'
import type { Typings } from '../typed/typings.ts'
import type { Publisher } from '../iceberg/publisher.ts'
import type { StagedFile, StagedPartition } from '../iceberg/stage.ts'
import type { RangeTuple } from '../iceberg/types.ts'
import type { RowOrigin } from '../parquet/lineage.ts'
import { mergeGroups, needsManifests, type MergeGroup } from './groups.ts'
import { chooseMerge, type Merge } from './policy.ts'

export interface CompactorOptions {
  readonly metadata: Metadata
  readonly publisher: Publisher
  readonly workers: Encoders
  readonly slots: Slots
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: TableMetrics
  readonly settings: (topic: TopicView) => TopicSettings
  readonly uuid: () => string
  readonly paused: boolean
  readonly typings: Typings
}

const RETRY_FIRST_MS = 1000
const RETRY_MAX_MS = 600_000

interface Work {
  running: Promise<void> | null
  again: boolean
  failures: number
  retry: Timer | null
}

/**
 * Merges small files of tables, level by level, until they reach the target size (T7, T11). One merge at a time per
 * table, at the lowest priority; appends go on meanwhile, and a merge whose files changed under it is thrown away.
 */
export class Compactor {
  readonly #options: CompactorOptions
  readonly #works = new Map<number, Work>()
  #closed = false

  constructor(options: CompactorOptions) {
    this.#options = options
    options.publisher.onPublished(({ table }, plan) => {
      if (plan.added.length > 0) this.consider(table.topic)
    })
  }

  /** Looks whether a table has something to merge, and merges it. */
  consider(topic: number): void {
    if (this.#closed || this.#options.paused) return
    let work = this.#works.get(topic)
    if (work === undefined) this.#works.set(topic, (work = { running: null, again: false, failures: 0, retry: null }))
    if (work.retry !== null) return
    if (work.running !== null) work.again = true
    else work.running = this.#run(topic, work)
  }

  /** Takes no more work and waits for what runs. */
  async close(): Promise<void> {
    this.#closed = true
    for (const work of this.#works.values()) work.retry?.cancel()
    await Promise.all([...this.#works.values()].map((work) => work.running))
  }

  async #run(topic: number, work: Work): Promise<void> {
    const { clock, logger, metadata } = this.#options
    try {
      // Yields first: `consider` is called while a publication is being answered.
      await Promise.resolve()
      do work.again = false
      while ((await this.#merge(topic)) || work.again)
      work.failures = 0
    } catch (error) {
      if (this.#closed || hasCode(error, 'CLOSED')) return
      work.failures++
      const retryMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (work.failures - 1))
      logger.error({ err: error, topic: metadata.state.topicByNumber(topic)?.name, retryMs }, 'merging files of a table failed')
      work.retry = clock.timer(retryMs, () => {
        work.retry = null
        this.consider(topic)
      })
    } finally {
      work.running = null
      if (work.retry === null) this.#works.delete(topic)
    }
  }

  /** What to merge next; of a partitioned table, or one with row lineage, as its manifests say. */
  async #choose(table: TableView, targetBytes: number): Promise<{ merge: Merge | null; group: MergeGroup | null }> {
    const { metadata, publisher } = this.#options
    const { state } = metadata
    const plain = chooseMerge(state, table.topic, table.files(), targetBytes, true)
    if (plain === null) return { merge: null, group: null }
    const loaded = await publisher.load(table)
    if (loaded === null || !needsManifests(loaded))
      return { merge: chooseMerge(state, table.topic, table.files(), targetBytes), group: null }
    for (const group of await mergeGroups(table.files(), loaded, publisher.cache, table.location)) {
      const merge = chooseMerge(state, table.topic, group.files, targetBytes, group.isScattered)
      if (merge !== null) return { merge, group }
    }
    return { merge: null, group: null }
  }

  /** One merge; false when there is nothing to merge. */
  async #merge(topic: number): Promise<boolean> {
    const { metadata, settings, slots, typings, workers, uuid, metrics, publisher } = this.#options
    const view = metadata.state.topicByNumber(topic)
    const table = metadata.state.table(topic)
    if (this.#closed || view === null || table === null) return false
    const { merge, group } = await this.#choose(table, settings(view).table.targetFileBytes)
    if (merge === null) return false
    const typing = await typings.ofTopic(topic)
    const result = await slots.run('merge', () =>
      workers.merge({
        kind: 'merge',
        key: layout.data(table.location, metadata.incarnation, uuid()),
        inputs: merge.files.map(({ key, sizeBytes }) => ({ key, sizeBytes, ...originOf(group, key) })),
        typing: typing === null ? null : { key: typing.key, text: typing.text },
      }),
    )
    metrics.writtenBytes.inc({ kind: 'merge' }, result.sizeBytes)
    const added = merged(merge, result, group?.partition)
    const published = await publisher.publish(topic, (current) =>
      merge.files.every((file) => metadata.state.tableFile(file.id) !== null)
        ? { operation: 'replace', added: [added], removed: merge.files, converted: [], dataTimeMs: current.dataTimeMs }
        : null,
    )
    if (published === null) await publisher.discard([result.key])
    return true
  }
}

function originOf(group: MergeGroup | null, key: string): { readonly origin?: RowOrigin } {
  const origin = group?.origins?.get(key)
  return origin === undefined ? {} : { origin }
}

/** The merged file; its share of produced bytes is that of its inputs. */
function merged(merge: Merge, file: FileResult, partition: StagedPartition | undefined): StagedFile {
  const originalBytes = new Map<number, number>()
  const rangesOf = (input: TableFile): TableFile['ranges'] => input.ranges
  for (const range of merge.files.flatMap(rangesOf))
    originalBytes.set(range.partition, (originalBytes.get(range.partition) ?? 0) + range.originalBytes)
  return {
    key: file.key,
    sizeBytes: file.sizeBytes,
    rows: file.rows,
    level: merge.level,
    ranges: file.ranges.map((range): RangeTuple => [range[0], range[1], range[2], range[3], range[4], originalBytes.get(range[0]) ?? 0]),
    metrics: file.metrics,
    ...(partition === undefined ? {} : { partition }),
  }
}
