import { Errors } from '../../protocol/errors.ts'
import {
  codecOf,
  CODEC_NONE,
  isTransactional,
  setMaxTimestamp,
  stampLogAppendTime,
  type BatchHeader,
} from '../../protocol/records/header.ts'
import { checkBatch, validateRecords, type BatchRules, type RecordError, type RecordsCheck } from '../../protocol/records/validate.ts'
import type { Clock } from '../base/clock.ts'
import { WorkerPool } from '../base/workers.ts'
import { TXN_ADDED, TXN_IMPLICIT, TXN_NONE } from '../metadata/commands.ts'
import type { TopicView } from '../metadata/view.ts'
import type { WalBatch } from '../wal/port.ts'

/** What validation asks of a topic's settings (base/config gives them). */
export interface TopicRules {
  readonly maxMessageBytes: number
  readonly segmentBytes: number
  readonly messageTimestampType: 'CreateTime' | 'LogAppendTime'
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  readonly compact: boolean
}

export interface Refusal {
  /** Kafka error code. */
  readonly error: number
  readonly message: string
  readonly recordErrors: readonly RecordError[]
}

export interface Validated {
  readonly error: 0
  readonly batch: WalBatch
  /** Still running in a worker (L11); settles with error 0 or a refusal, and rejects when the worker died. */
  readonly ready?: Promise<Refusal>
}

export interface ProduceValidatorOptions {
  readonly clock: Clock
  readonly rules: (topic: TopicView) => TopicRules
  /** Threads for large compressed batches. */
  readonly workers: number
  /** The most bytes that the records of one batch may inflate to; 128 MiB when left out. */
  readonly inflatedMaxBytes?: number
}

/** Compressed batches up to this size are inflated here: a few dozen µs, less than the way to a worker and back. */
const INLINE_BYTES = 32 * 1024
/** … unless they inflate to more than this, which a worker then does. */
const INLINE_INFLATED_BYTES = 512 * 1024
/** The Produce version from which an append adds its partition to the transaction (KIP-890). */
const IMPLICIT_SINCE = 12
const NO_ERRORS: readonly RecordError[] = []

/**
 * Validates what a Produce request brings for one partition (L11). Headers, CRC and uncompressed records are checked at
 * once; large compressed batches are inflated and walked in workers while the object uploads. LogAppendTime is stamped,
 * and a wrong largest timestamp corrected, before that. The batch stays where it is, in the frame it came in.
 */
export class ProduceValidator {
  readonly #options: ProduceValidatorOptions
  readonly #pool: WorkerPool

  constructor(options: ProduceValidatorOptions) {
    this.#options = options
    const file = './validateWorker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js')
    this.#pool = new WorkerPool(new URL(file, import.meta.url), { size: options.workers })
  }

  /** `records` is changed in place where the broker must stamp or correct it. */
  validate(topic: TopicView, records: Uint8Array | null, produceVersion: number): Validated | Refusal {
    const rules = this.#rules(topic, produceVersion)
    const checked = checkBatch(records, rules)
    if (checked.header === null) return { error: checked.error, message: checked.message, recordErrors: NO_ERRORS }
    const header = checked.header
    if (isTransactional(header.attributes) && header.producerId < 0)
      return { error: Errors.INVALID_RECORD, message: 'A transactional batch needs a producer id', recordErrors: NO_ERRORS }
    const bytes = records!.subarray(0, header.sizeBytes)
    const outcome = this.#inline(bytes, header, rules)
    if (outcome === null) return this.#later(bytes, header, rules)
    if (outcome.error !== 0) return outcome
    if (rules.timestampType === 0 && outcome.maxTimestampMs !== header.maxTimestampMs) setMaxTimestamp(bytes, 0, outcome.maxTimestampMs)
    return { error: 0, batch: stamped(bytes, header, rules, outcome.maxTimestampMs) }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  #rules(topic: TopicView, produceVersion: number): BatchRules {
    const rules = this.#options.rules(topic)
    return {
      produceVersion,
      maxMessageBytes: rules.maxMessageBytes,
      segmentBytes: rules.segmentBytes,
      timestampType: rules.messageTimestampType === 'LogAppendTime' ? 1 : 0,
      timestampBeforeMaxMs: rules.timestampBeforeMaxMs,
      timestampAfterMaxMs: rules.timestampAfterMaxMs,
      nowMs: this.#options.clock.wallMs(),
      compacted: rules.compact,
      inflatedMaxBytes: this.#options.inflatedMaxBytes ?? 128 * 1024 * 1024,
    }
  }

  /** null when the work belongs into a worker. */
  #inline(bytes: Uint8Array, header: BatchHeader, rules: BatchRules): RecordsCheck | null {
    if (codecOf(header.attributes) === CODEC_NONE) return validateRecords(bytes, rules)
    if (bytes.length > INLINE_BYTES) return null
    const inflatedMaxBytes = Math.min(INLINE_INFLATED_BYTES, rules.inflatedMaxBytes)
    const outcome = validateRecords(bytes, { ...rules, inflatedMaxBytes })
    return outcome.error === Errors.MESSAGE_TOO_LARGE && inflatedMaxBytes < rules.inflatedMaxBytes ? null : outcome
  }

  #later(bytes: Uint8Array, header: BatchHeader, rules: BatchRules): Validated {
    const copy = new Uint8Array(bytes)
    const batch = stamped(bytes, header, rules, header.maxTimestampMs)
    const ready = this.#pool.run<RecordsCheck>({ batch: copy, rules }, [copy.buffer]).then((outcome) => {
      // The bytes may be on their way to the store: only what the commit says can still be corrected.
      if (rules.timestampType === 0) batch.maxTimestampMs = outcome.maxTimestampMs
      return outcome
    })
    return { error: 0, batch, ready }
  }
}

function stamped(bytes: Uint8Array, header: BatchHeader, rules: BatchRules, maxTimestampMs: number): WalBatch & { maxTimestampMs: number } {
  const appendTime = rules.timestampType === 1
  if (appendTime) stampLogAppendTime(bytes, 0, rules.nowMs)
  return {
    bytes,
    offsetCount: header.lastOffsetDelta + 1,
    maxTimestampMs: appendTime ? rules.nowMs : maxTimestampMs,
    producerId: header.producerId,
    producerEpoch: header.producerEpoch,
    baseSequence: header.baseSequence,
    appendTimeMs: appendTime ? rules.nowMs : -1,
    transaction: !isTransactional(header.attributes) ? TXN_NONE : rules.produceVersion >= IMPLICIT_SINCE ? TXN_IMPLICIT : TXN_ADDED,
  }
}
