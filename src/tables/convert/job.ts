import type { Clock } from '../../base/clock.ts'
import { FrazilError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TopicView } from '../../metadata/view.ts'
import type { Wal } from '../../wal/port.ts'
import { layout } from '../iceberg/layout.ts'
import type { Publisher } from '../iceberg/publisher.ts'
import type { StagedFile } from '../iceberg/stage.ts'
import type { RangeTuple } from '../iceberg/types.ts'
import type { TableMetrics } from './metrics.ts'
import { committable, cutFiles, planConversion, type FilePlan } from './plan.ts'
import type { Priority, Slots } from './slots.ts'
import type { EncodePart, FileResult } from './tasks.ts'
import type { Encoders } from './workers.ts'

export interface JobOptions {
  readonly metadata: Metadata
  readonly wal: Wal
  readonly publisher: Publisher
  readonly workers: Encoders
  readonly slots: Slots
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: TableMetrics
  readonly uuid: () => string
  /** Batch bytes that one first-level file is made of. */
  readonly fileBytes: number
}

export interface JobOutcome {
  /** False when there was nothing to convert. */
  readonly converted: boolean
  /** True when everything that was committed at the start is in the table now. */
  readonly complete: boolean
}

/** Bytes that are copied before other work gets its turn: a few milliseconds. */
const COPY_STEP_BYTES = 8 * 1024 * 1024
/** … or after this many small extents. */
const COPY_STEP_EXTENTS = 256

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
    const plan = planConversion(metadata.state, topic.topic, topic.partitions, fileBytes * parallel)
    if (plan.partitions.length === 0) return { converted: false, complete: true }
    const files = cutFiles(plan, fileBytes, apart)
    const results = await Promise.allSettled(files.map((file) => slots.run(priority, () => this.#encode(table.location, file))))
    const made = results.map((result) => (result.status === 'fulfilled' ? result.value : null))
    const { indexes, ranges } = committable(
      files,
      made.map((result) => result !== null),
    )
    const added = indexes.map((index) => staged(files[index]!, made[index]!)).filter((file) => file.rows > 0)
    const unused = made
      .filter((result, index) => result !== null && result.rows > 0 && !indexes.includes(index))
      .map((result) => result!.key)
    await this.#options.publisher.discard(unused)
    if (ranges.length > 0) await this.#commit(topic, added, ranges, plan.commitTimeMs)
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
  ): Promise<void> {
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
    if (published === null) return publisher.discard(added.map((file) => file.key))
    for (const file of added) {
      metrics.convertedRows.inc(file.rows)
      metrics.writtenBytes.inc({ kind: 'convert' }, file.sizeBytes)
    }
  }

  async #encode(location: string, file: FilePlan): Promise<FileResult> {
    const { clock, metadata, uuid, wal, workers } = this.#options
    const bytes = new ArrayBuffer(file.sizeBytes)
    const target = new Uint8Array(bytes)
    const parts: { -readonly [Field in keyof EncodePart]: EncodePart[Field] }[] = []
    let at = 0
    let copiedBytes = 0
    let copiedExtents = 0
    for (const { partition, fromOffset, extent } of file.extents) {
      const source = await wal.read(extent.object, extent.byteOffset, extent.sizeBytes, { whole: true })
      if (source.length !== extent.sizeBytes)
        throw new FrazilError('CORRUPT', `WAL object ${extent.object} gave ${source.length} of ${extent.sizeBytes} bytes`)
      target.set(source, at)
      const last = parts.at(-1)
      // extents that follow each other are one part: tens of thousands of small ones must not be cloned one by one
      if (
        last !== undefined &&
        last.partition === partition &&
        last.toOffset + 1 === extent.firstOffset &&
        fromOffset <= extent.firstOffset
      ) {
        last.toOffset = extent.lastOffset
        last.sizeBytes += extent.sizeBytes
      } else
        parts.push({ partition, baseOffset: extent.firstOffset, fromOffset, toOffset: extent.lastOffset, at, sizeBytes: extent.sizeBytes })
      at += extent.sizeBytes
      copiedBytes += extent.sizeBytes
      if (copiedBytes >= COPY_STEP_BYTES || ++copiedExtents >= COPY_STEP_EXTENTS) {
        copiedBytes = copiedExtents = 0
        await clock.sleep(0)
      }
    }
    return workers.encode({ kind: 'encode', key: layout.data(location, metadata.incarnation, uuid()), bytes, parts })
  }
}

/** A written file with what only the state knows: how many produced bytes its ranges stand for. */
function staged(plan: FilePlan, file: FileResult): StagedFile {
  const originalBytes = new Map<number, number>()
  for (const { partition, extent } of plan.extents) originalBytes.set(partition, (originalBytes.get(partition) ?? 0) + extent.originalBytes)
  return {
    key: file.key,
    sizeBytes: file.sizeBytes,
    rows: file.rows,
    level: 0,
    ranges: file.ranges.map((range): RangeTuple => [range[0], range[1], range[2], range[3], range[4], originalBytes.get(range[0]) ?? 0]),
    metrics: file.metrics,
  }
}
