import type { Clock } from '../../base/clock.ts'
import { FrazilError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import { BACKGROUND_REST_MS, TimeSlice } from '../../base/slice.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TopicView } from '../../metadata/view.ts'
import type { Wal } from '../../wal/port.ts'
import { layout } from '../iceberg/layout.ts'
import type { Publisher } from '../iceberg/publisher.ts'
import type { StagedFile } from '../iceberg/stage.ts'
import type { RangeTuple } from '../iceberg/types.ts'
import type { TableMetrics } from './metrics.ts'
import { bindTerms, type BoundField } from '../partition/spec.ts'
import { tableSchema } from '../row/schema.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import { EMPTY_TYPING } from '../../schemas/typing/typing.ts'
import type { SchemaSource } from '../../schemas/source.ts'
import type { Newcomer } from '../../schemas/typing/grow.ts'
import { resolveUnknown } from '../typed/resolve.ts'
import { unknownKey, type UnknownSchema } from '../typed/side.ts'
import type { Typings } from '../typed/typings.ts'
import type { ChunkPool } from './chunks.ts'
import { gather } from './gather.ts'
import { committable, cutFiles, planConversion, type FilePlan } from './plan.ts'
import type { Priority, Slots } from './slots.ts'
import type { FileResult, TypedTask } from './tasks.ts'
import type { Encoders } from './workers.ts'

export interface JobOptions {
  readonly metadata: Metadata
  readonly wal: Wal
  readonly chunks: ChunkPool
  readonly publisher: Publisher
  readonly workers: Encoders
  readonly slots: Slots
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: TableMetrics
  readonly uuid: () => string
  /** Batch bytes that one first-level file is made of. */
  readonly fileBytes: number
  readonly settings: (topic: TopicView) => TopicSettings
  readonly typings: Typings
  /** Where schemas of values come from; null while there is no registry. */
  readonly schemas: SchemaSource | null
}

export interface JobOutcome {
  /** False when there was nothing to convert. */
  readonly converted: boolean
  /** True when everything that was committed at the start is in the table now. */
  readonly complete: boolean
}

/** What a range of nothing but ends of transactions comes to. */
const NO_FILE: FileResult = {
  key: '',
  sizeBytes: 0,
  rows: 0,
  ranges: [],
  metrics: { columnSizes: [], valueCounts: [], nullValueCounts: [], lowerBounds: [], upperBounds: [], splitOffsets: [] },
  unknown: [],
  values: null,
}

/**
 * Converts what a topic has in the WAL, up to a few files, and commits it: read, encode in workers, publish. Nothing is
 * deleted while it is in doubt whether a commit landed (P4). Errors of a file leave the other files to be committed and
 * are thrown afterwards.
 */
export class ConversionJob {
  readonly #options: JobOptions
  constructor(options: JobOptions) {
    this.#options = options
  }

  async run(topic: TopicView, priority: Priority, apart: boolean): Promise<JobOutcome> {
    const { metadata, slots, metrics, clock, fileBytes } = this.#options
    const table = metadata.state.table(topic.topic)
    if (table === null) return { converted: false, complete: true }
    const startedMs = clock.monotonicMs()
    const parallel = Math.max(1, slots.waiting === 0 ? slots.free : 1)
    const restMs = priority === 'load' ? 0 : BACKGROUND_REST_MS
    const slice = new TimeSlice(clock, restMs)
    const plan = await planConversion(metadata.state, topic.topic, topic.partitions, fileBytes * parallel, slice)
    if (plan.partitions.length === 0) return { converted: false, complete: true }
    const files = cutFiles(plan, fileBytes, apart)
    const results = await Promise.allSettled(
      files.map((file) => slots.run(priority, () => this.#encode(topic, table.location, file, restMs))),
    )
    const made = results.map((result) => (result.status === 'fulfilled' ? result.value : null))
    const { indexes, ranges } = committable(
      files,
      made.map((result) => result !== null),
    )
    const added = indexes.flatMap((index) => staged(files[index]!, made[index]!)).filter((file) => file.rows > 0)
    const unused = made
      .filter((result, index) => result !== null && result.rows > 0 && !indexes.includes(index))
      .flatMap((result) => withSiblings(result!).map((file) => file.key))
    await this.#options.publisher.discard(unused)
    if (ranges.length > 0 && (await this.#commit(topic, added, ranges, plan.commitTimeMs))) {
      for (const index of indexes) this.#countTyped(topic, made[index]!)
    }
    const failure = results.find((result) => result.status === 'rejected')
    if (failure !== undefined) throw failure.reason
    metrics.conversionSeconds.observe({ trigger: priority }, (clock.monotonicMs() - startedMs) / 1000)
    metrics.convertedBytes.inc(plan.sizeBytes)
    return { converted: true, complete: plan.complete }
  }

  async #commit(
    topic: TopicView,
    added: readonly StagedFile[],
    ranges: readonly { readonly partition: number; readonly firstOffset: number; readonly lastOffset: number }[],
    commitTimeMs: number,
  ): Promise<boolean> {
    const { metadata, metrics, publisher } = this.#options
    const { state } = metadata
    const published = await publisher.publish(topic.topic, (table) =>
      // Where the WAL begins elsewhere by now, someone else converted or deleted these records: the files are of no use.
      ranges.every((range) => state.firstUnconverted(topic.topic, range.partition) === range.firstOffset)
        ? {
            operation: added.length === 0 ? 'none' : 'append',
            added,
            removed: [],
            converted: ranges,
            dataTimeMs: Math.max(commitTimeMs, table.dataTimeMs),
          }
        : null,
    )
    if (published === null) {
      await publisher.discard(added.map((file) => file.key))
      return false
    }
    for (const file of added) {
      metrics.convertedRows.inc(file.rows)
      metrics.writtenBytes.inc({ kind: 'convert' }, file.sizeBytes)
    }
    return true
  }

  #countTyped({ name: topic }: TopicView, { values }: FileResult): void {
    if (values === null) return
    for (const outcome of ['exact', 'raw', 'undecodable'] as const) {
      if (values[outcome] > 0) this.#options.metrics.typedRows.inc({ topic, outcome }, values[outcome])
    }
  }

  /** Writes a file. Where values name schemas that the table does not know yet, it gets to know them first (T2). */
  async #encode(topic: TopicView, location: string, file: FilePlan, restMs: number): Promise<FileResult> {
    const { metadata, schemas, typings, uuid, workers } = this.#options
    const givenUp = new Set<string>()
    for (let attempt = 0; attempt < SCHEMA_ATTEMPTS; attempt++) {
      const typed = await this.#typed(topic, givenUp)
      const { chunks, parts } = await gather(this.#options, file, restMs)
      if (parts.length === 0) return NO_FILE
      const partitionBy = await this.#partitionBy(topic)
      const key = layout.data(location, metadata.incarnation, uuid())
      const result = await workers.encode({ kind: 'encode', key, chunks, parts, typed, partitionBy })
      if (result.unknown.length === 0) return result
      const { newcomers, givenUp: lost } = await resolveUnknown(
        result.unknown,
        schemas,
        (await typings.ofTopic(topic.topic))?.typing ?? EMPTY_TYPING,
        typed?.setting ?? null,
      )
      for (const key of lost) givenUp.add(key)
      const refused = newcomers.length === 0 ? [] : await typings.grow(topic.topic, newcomers)
      for (const { newcomer, reason } of refused) {
        this.#options.logger.warn({ topic: topic.name, side: newcomer.side, reason: reason.message }, 'a schema is not made columns')
        for (const one of result.unknown) if (isOf(one, newcomer)) givenUp.add(unknownKey(one))
      }
    }
    throw new FrazilError('REFUSED', `new schemas of ${topic.name} were met again and again`)
  }

  /** The terms of `table.partition.by` that the table's columns of now take. */
  async #partitionBy(topic: TopicView): Promise<readonly BoundField[]> {
    const { metadata, settings, typings } = this.#options
    const { partitionBy } = settings(topic).table
    const table = metadata.state.table(topic.topic)
    if (partitionBy.length === 0 || table === null) return []
    return bindTerms(tableSchema(0, (await typings.of(table)).typing.fields), partitionBy).fields
  }

  async #typed(topic: TopicView, givenUp: ReadonlySet<string>): Promise<TypedTask | null> {
    const { metadata, schemas, settings, typings } = this.#options
    const { valueSchema, keySchema } = settings(topic).table
    const table = metadata.state.table(topic.topic)
    if (metadata.state.level < TYPING_LEVEL) return null
    const setting = settingOf(valueSchema)
    const values = setting !== null || (valueSchema === 'auto' && schemas !== null)
    const keys = keySchema === 'auto' && schemas !== null
    if (table === null || (table.typingVersion === 0 && !values && !keys)) return null
    const { key, text } = await typings.of(table)
    return { keys, values, setting, key, text, givenUp: [...givenUp] }
  }
}

/** Feature level from which tables have typings (L5). */
const TYPING_LEVEL = 2
/** How often a file is begun anew because further schemas turned up in it. */
const SCHEMA_ATTEMPTS = 32

function isOf(unknown: UnknownSchema, newcomer: Newcomer): boolean {
  if (unknown.side !== newcomer.side) return false
  if (unknown.shape !== undefined || newcomer.shape !== undefined) return unknown.shape === newcomer.shape
  if (unknown.header !== newcomer.header) return false
  return newcomer.header !== '' || unknown.sample.startsWith(newcomer.framing)
}

/** The JSON Schema of `table.value.schema=json:…`; null for another setting. */
function settingOf(valueSchema: string): string | null {
  return valueSchema.startsWith('json:') ? valueSchema.slice(5) : null
}

/** All files that a task made. */
function withSiblings(file: FileResult): FileResult[] {
  return [file, ...(file.siblings ?? [])]
}

/** The written files with what only the state knows: how many produced bytes their ranges stand for, by their share of rows. */
function staged(plan: FilePlan, made: FileResult): StagedFile[] {
  const originalBytes = new Map(
    plan.spans.map(({ partition, extents }) => [
      partition,
      extents.reduce((sum, extent) => sum + (extent.kind === 'wal' ? extent.originalBytes : 0), 0),
    ]),
  )
  const files = withSiblings(made)
  const rows = new Map<number, number>()
  for (const range of files.flatMap((file) => file.ranges)) rows.set(range[0], (rows.get(range[0]) ?? 0) + range[3])
  const share = (partition: number, count: number): number =>
    Math.round(((originalBytes.get(partition) ?? 0) * count) / (rows.get(partition) ?? 1))
  return files.map((file) => ({
    key: file.key,
    sizeBytes: file.sizeBytes,
    rows: file.rows,
    level: 0,
    ranges: file.ranges.map((range): RangeTuple => [range[0], range[1], range[2], range[3], range[4], share(range[0], range[3])]),
    metrics: file.metrics,
    partition: file.partition,
  }))
}
