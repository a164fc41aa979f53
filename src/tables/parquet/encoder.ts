import {
  BATCH_HEADER_BYTES,
  batchAttributes,
  batchBaseTimestampMs,
  batchMaxTimestampMs,
  batchOffsetCount,
  batchProducerId,
  batchRecordCount,
  codecOf,
  isControl,
  isTransactional,
  timestampTypeOf,
  wholeBatchBytes,
} from '../../../protocol/records/header.ts'
import { decompressPayload } from '../../../protocol/records/codecs.ts'
import { RecordCursor } from '../../../protocol/records/walk.ts'
import { FrazilError } from '../../base/errors.ts'
import { RowFileWriter, type RowFileOptions, type RowFileStats } from './rowWriter.ts'
import { corrupt } from './thriftRead.ts'

/** Batches were validated when they were produced; this only bounds what damage could claim. */
const INFLATE_MAX_BYTES = 1024 * 1024 * 1024

export interface RowFileEncoderOptions extends RowFileOptions {
  /** Takes the file's bytes as they become final; without it `finish` returns them all. */
  readonly sink?: (bytes: Uint8Array) => void
}

/**
 * Turns record batches into one table file. Synchronous and meant for a worker thread; holds one row group as stored and
 * one open page a column, plus the finished bytes when there is no sink.
 */
export class RowFileEncoder {
  readonly #chunks: Uint8Array[] = []
  readonly #writer: RowFileWriter
  readonly #cursor = new RecordCursor()

  constructor(options: RowFileEncoderOptions = {}) {
    this.#writer = new RowFileWriter(options, options.sink ?? ((bytes) => this.#chunks.push(bytes)))
  }

  /** Rows so far. */
  get rows(): number {
    return this.#writer.rows
  }

  /** What the file would take if it ended now, nearly. */
  get sizeBytes(): number {
    return this.#writer.sizeBytes
  }

  /**
   * Adds whole batches that stand back to back in `bytes`, any codec; the first has base offset `firstOffset`, each next
   * one begins where the one before it ends. Only rows with offsets in [fromOffset, toOffset] are taken; control batches
   * have none, nor has a transactional batch that `isLeftOut` (of an aborted transaction). Calls come in the order of (partition, offset). Errors: CORRUPT for bytes that are no batches, REFUSED for
   * rows out of order; the encoder is of no use after either.
   */
  addBatches(
    partition: number,
    firstOffset: number,
    bytes: Uint8Array,
    options: {
      readonly fromOffset?: number
      readonly toOffset?: number
      readonly isLeftOut?: (producerId: number, baseOffset: number) => boolean
    } = {},
  ): { readonly nextOffset: number } {
    const fromOffset = options.fromOffset ?? 0
    const toOffset = options.toOffset ?? Infinity
    const { isLeftOut } = options
    let baseOffset = firstOffset
    for (let at = 0; at < bytes.length;) {
      const sizeBytes = wholeBatchBytes(bytes, at)
      if (sizeBytes < 0) throw corrupt(`no whole record batch at byte ${at} of partition ${partition}, offset ${baseOffset}`)
      const nextOffset = baseOffset + batchOffsetCount(bytes, at)
      if (nextOffset <= baseOffset) throw corrupt(`a record batch of partition ${partition} spans no offsets at ${baseOffset}`)
      const attributes = batchAttributes(bytes, at)
      const isAborted = isLeftOut !== undefined && isTransactional(attributes) && isLeftOut(batchProducerId(bytes, at), baseOffset)
      if (nextOffset > fromOffset && baseOffset <= toOffset && !isControl(attributes) && !isAborted) {
        this.#addBatch(partition, baseOffset, bytes.subarray(at, at + sizeBytes), fromOffset, toOffset)
      }
      baseOffset = nextOffset
      at += sizeBytes
    }
    return { nextOffset: baseOffset }
  }

  /** Ends the file. `chunks` joined are its bytes (empty with a sink). A file without rows is valid too. */
  finish(): RowFileStats & { readonly chunks: readonly Uint8Array[] } {
    return { ...this.#writer.finish(), chunks: this.#chunks }
  }

  #addBatch(partition: number, baseOffset: number, batch: Uint8Array, fromOffset: number, toOffset: number): void {
    const attributes = batchAttributes(batch)
    const timestampType = timestampTypeOf(attributes)
    const baseTimestampMs = batchBaseTimestampMs(batch)
    const appendTimeMs = timestampType === 1 ? batchMaxTimestampMs(batch) : -1
    const writer = this.#writer
    try {
      const payload = decompressPayload(codecOf(attributes), batch.subarray(BATCH_HEADER_BYTES), INFLATE_MAX_BYTES)
      const record = this.#cursor.reset(payload, 0, payload.length, batchRecordCount(batch))
      while (record.next()) {
        const offset = baseOffset + record.offsetDelta
        if (offset < fromOffset || offset > toOffset) continue
        const timestampMs = timestampType === 1 ? appendTimeMs : baseTimestampMs + record.timestampDeltaMs
        writer.beginRow(partition, offset, timestampMs, timestampType)
        writer.key(payload, record.keyStart, record.keyEnd)
        writer.value(payload, record.valueStart, record.valueEnd)
        if (record.headerCount === 0) writer.noHeaders()
        else writer.headers(payload, record.headersWireStart, record.headersStart, record.headersEnd, record.headerCount)
        writer.endRow()
      }
    } catch (error) {
      if (error instanceof FrazilError) throw error
      throw corrupt(`the record batch of partition ${partition} at offset ${baseOffset} does not decode`, error)
    }
  }
}
