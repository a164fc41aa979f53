import { Counter, Gauge, type Registry } from 'prom-client'
import { batchOffsetCount, wholeBatchBytes } from '../../protocol/records/header.ts'
import type { Clock } from '../base/clock.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { WalObject } from '../metadata/view.ts'
import type { ObjectStore } from '../storage/store.ts'
import { encodeFooter, encodeHeader, HEADER_BYTES, walKey, type IndexPart } from './format.ts'
import { Loop } from './loop.ts'
import type { Wal } from './port.ts'
import { planSegments, type Segment } from './segments.ts'
import type { WalSequences } from './sequences.ts'
import { putSure } from './upload.ts'

export interface EvacuatorOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  /** `inTurn`: see WalWriter. */
  readonly wal: Wal & { inTurn(propose: () => void): void }
  readonly sequences: WalSequences
  readonly clock: Clock
  readonly logger: Logger
  /** False while another pod does this work; always this one when left out. */
  readonly turn?: () => boolean
  readonly registry: Registry
  /** `--wal-evacuate-ms`: the age at which what is left of an object moves; 300000 when left out. */
  readonly afterMs?: number
  /** Age at which an object with less than a quarter alive moves; 60000 when left out. */
  readonly sparseAfterMs?: number
  /** Pause between passes; 30000 when left out. */
  readonly everyMs?: number
  /** Size at which a segment is full; 8 MiB when left out. */
  readonly segmentBytes?: number
  readonly graceMs?: number
}

/** Segments that are in memory, and upload, at a time. */
const SEGMENTS_AT_ONCE = 4
const SPARSE = 0.25

/**
 * Frees objects that many partitions share from those of slow topics (L14): what is left alive in old objects, in sparse
 * ones, and inside old entries (whose truncation waits for it, L10) moves into segments of one topic each, sorted by
 * partition and offset. One entry a segment: a topic that is deleted or converted meanwhile refuses its own only (P9).
 */
export class Evacuator {
  readonly #options: EvacuatorOptions
  readonly #loop: Loop
  readonly #moved: Counter

  constructor(options: EvacuatorOptions) {
    this.#options = options
    const registers = [options.registry]
    this.#moved = new Counter({ name: 'frazil_wal_evacuated_bytes_total', help: 'Bytes moved into segments of one topic', registers })
    const ages = (): Map<string, number> => this.#oldestSeconds()
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_wal_oldest_pinned_seconds',
        help: 'Age of the oldest WAL bytes that are not converted, by what they wait for',
        labelNames: ['reason'],
        registers: [],
        collect() {
          for (const [reason, seconds] of ages()) this.set({ reason }, seconds)
        },
      }),
    )
    this.#loop = new Loop({
      clock: options.clock,
      everyMs: options.everyMs ?? 30_000,
      pass: () => this.pass(),
      turn: options.turn,
      failed: (error) => options.logger.warn({ error }, 'a pass of WAL evacuation failed'),
    })
  }

  start(): void {
    this.#loop.start()
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  /** One pass; the number of segments that were accepted. */
  async pass(): Promise<number> {
    const { metadata, clock, segmentBytes } = this.#options
    const nowMs = clock.wallMs()
    const chosen = new Set<number>()
    for (const object of metadata.state.walObjects()) if (this.#isDue(object, nowMs)) chosen.add(object.id)
    if (chosen.size === 0) return 0
    const segments = planSegments(metadata.state, chosen, segmentBytes ?? 8 * 1024 * 1024)
    let accepted = 0
    for (let at = 0; at < segments.length && !this.#loop.closed; at += SEGMENTS_AT_ONCE) {
      accepted += await this.#move(segments.slice(at, at + SEGMENTS_AT_ONCE))
    }
    return accepted
  }

  #isDue(object: WalObject, nowMs: number): boolean {
    if (object.segment) return false
    const ageMs = nowMs - object.createdMs
    if (ageMs >= (this.#options.afterMs ?? 300_000)) return true
    return object.liveBytes < object.sizeBytes * SPARSE && ageMs >= (this.#options.sparseAfterMs ?? 60_000)
  }

  async #move(segments: readonly Segment[]): Promise<number> {
    const { metadata, sequences, wal, logger } = this.#options
    const first = sequences.ahead()
    const written = await Promise.all(
      segments.map(async (segment, i) => {
        const key = walKey(metadata.state.timeline, metadata.incarnation, first + i)
        try {
          return { segment, key, walSequence: first + i, ...(await this.#write(segment, key, first + i)) }
        } catch (error) {
          logger.warn({ error, topic: segment.topic }, 'a WAL segment could not be written')
          await this.#abandon(key)
          return null
        }
      }),
    )
    const ready = written.filter((one) => one !== null)
    if (!sequences.claim(first + segments.length - 1)) {
      for (const { key } of ready) await this.#abandon(key)
      return 0
    }
    const answers = await new Promise<Promise<boolean>[]>((resolve) => {
      wal.inTurn(() => {
        resolve(
          ready.map(async ({ segment, key, walSequence, sizeBytes, byteOffsets }) => {
            const moves = segment.ranges.map(({ topic, partition, firstOffset, lastOffset, object }, i) => {
              return { topic, partition, firstOffset, lastOffset, fromObject: object, to: 0, byteOffset: byteOffsets[i] }
            })
            const result = await metadata.propose({ kind: 'moveExtents', objects: [{ key, sizeBytes, walSequence }], moves })
            if (result.kind === 'ok') {
              this.#moved.inc(sizeBytes)
              return true
            }
            logger.debug({ topic: segment.topic, result }, 'a WAL segment came too late')
            await this.#abandon(key)
            return false
          }),
        )
      })
    })
    // An entry of unknown outcome may have named its segment: nothing is deleted on doubt (P4).
    const outcomes = await Promise.allSettled(answers)
    const failure = outcomes.find((outcome) => outcome.status === 'rejected')
    if (failure !== undefined) throw failure.reason
    return outcomes.filter((outcome) => outcome.status === 'fulfilled' && outcome.value).length
  }

  async #write(
    segment: Segment,
    key: string,
    walSequence: number,
  ): Promise<{ readonly sizeBytes: number; readonly byteOffsets: readonly number[] }> {
    const { metadata, wal } = this.#options
    const bodies: Uint8Array[] = []
    const byteOffsets: number[] = []
    const parts: (IndexPart & { sizesBytes: number[]; offsetCounts: number[] })[] = []
    let at = HEADER_BYTES
    for (const range of segment.ranges) {
      byteOffsets.push(at)
      let part = parts.at(-1)
      if (part?.partition !== range.partition) {
        part = {
          topicId: segment.topicId,
          topic: range.topic,
          partition: range.partition,
          byteOffset: at,
          sizesBytes: [],
          offsetCounts: [],
        }
        parts.push(part)
      }
      for (const { byteOffset, sizeBytes } of range.extents) {
        const bytes = await wal.read(range.object, byteOffset, sizeBytes, { whole: true })
        for (let batch = 0; batch < bytes.length;) {
          const size = wholeBatchBytes(bytes, batch)
          if (size < 0) throw new FrazilError('CORRUPT', `an extent of WAL object ${range.object} is no run of whole batches`)
          part.sizesBytes.push(size)
          part.offsetCounts.push(batchOffsetCount(bytes, batch))
          batch += size
        }
        bodies.push(bytes)
        at += bytes.length
      }
    }
    const footer = encodeFooter(at, parts)
    const body = [encodeHeader(metadata.incarnation, walSequence), ...bodies, footer]
    await putSure(key, body, 'segment', { ...this.#options, unknownRetries: 4, unknownRetryMs: 50 })
    return { sizeBytes: at + footer.length, byteOffsets }
  }

  async #abandon(key: string): Promise<void> {
    await this.#options.metadata.propose({ kind: 'enqueueDeletions', items: [{ key, graceMs: this.#options.graceMs ?? 60_000 }] })
  }

  #oldestSeconds(): Map<string, number> {
    const nowMs = this.#options.clock.wallMs()
    const oldest = new Map([
      ['age', 0],
      ['evacuation', 0],
      ['conversion', 0],
    ])
    for (const object of this.#options.metadata.state.walObjects()) {
      const reason = object.segment ? 'conversion' : this.#isDue(object, nowMs) ? 'evacuation' : 'age'
      oldest.set(reason, Math.max(oldest.get(reason)!, (nowMs - object.createdMs) / 1000))
    }
    return oldest
  }
}
