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
import { columnTree } from '../../schemas/columns/tree.ts'
import type { Typing } from '../../schemas/typing/typing.ts'
import { TypedSide, type GivenUp, type SideCounts, type UnknownSchema } from '../typed/side.ts'
import { SchemaHeaders } from '../typed/headers.ts'
import { RowFileWriter, type RowFileOptions, type RowFileStats } from './rowWriter.ts'
import { corrupt } from './thriftRead.ts'

/** Batches were validated when they were produced; this only bounds what damage could claim. */
const INFLATE_MAX_BYTES = 1024 * 1024 * 1024

export interface RowFileEncoderOptions extends RowFileOptions {
  /** Takes the file's bytes as they become final; without it `finish` returns them all. */
  readonly sink?: (bytes: Uint8Array) => void
  /** Decodes keys or values into columns, or both. */
  readonly typed?: TypedOptions
}

export interface TypedOptions {
  readonly typing: Typing
  readonly keys: boolean
  readonly values: boolean
  /** The JSON Schema of a topic's setting, that all values are texts of; null when they name schemas. */
  readonly setting?: string | null
  /** Schemas whose values stay raw. */
  readonly givenUp: GivenUp
}

/**
 * Turns record batches into one table file. Synchronous and meant for a worker thread; holds one row group as stored and
 * one open page a column, plus the finished bytes when there is no sink.
 */
export class RowFileEncoder {
  readonly #chunks: Uint8Array[] = []
  readonly #writer: RowFileWriter
  readonly #cursor = new RecordCursor()
  readonly #schemas = new SchemaHeaders()
  #key: TypedSide | null = null
  #value: TypedSide | null = null

  constructor(options: RowFileEncoderOptions = {}) {
    const { typed } = options
    const userFields = typed?.typing.fields ?? []
    const writer = (this.#writer = new RowFileWriter({ ...options, userFields }, options.sink ?? ((bytes) => this.#chunks.push(bytes))))
    if (typed === undefined) return
    const tree = columnTree(userFields)
    const setting = typed.setting ?? null
    const side = (name: 'key' | 'value', isOn: boolean): TypedSide =>
      new TypedSide({
        typing: typed.typing,
        side: name,
        tree,
        sink: (id) => writer.leaf(id),
        givenUp: typed.givenUp,
        isOn,
        setting: name === 'value' ? setting : null,
      })
    this.#key = side('key', typed.keys)
    this.#value = side('value', typed.values)
    writer.decodeWith(this.#key, this.#value)
  }

  /** Schemas that were met and are not known: the file is to be made again with a typing that knows them. */
  get unknown(): readonly UnknownSchema[] {
    return [...(this.#key?.unknown.values() ?? []), ...(this.#value?.unknown.values() ?? [])]
  }

  /** How values became columns; null when they did not. */
  get counts(): SideCounts | null {
    return this.#value?.counts ?? null
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
    const typed = this.#value !== null
    // Once a schema is unknown the file is lost: what is left to find out is which others are.
    const isPeeking = typed && this.#value!.unknown.size + this.#key!.unknown.size > 0
    try {
      const payload = decompressPayload(codecOf(attributes), batch.subarray(BATCH_HEADER_BYTES), INFLATE_MAX_BYTES)
      const record = this.#cursor.reset(payload, 0, payload.length, batchRecordCount(batch))
      while (record.next()) {
        const offset = baseOffset + record.offsetDelta
        if (offset < fromOffset || offset > toOffset) continue
        if (typed) this.#schemas.read(payload, record.headersStart, record.headerCount)
        if (isPeeking) {
          this.#key!.peek(payload, record.keyStart, record.keyEnd, this.#schemas.key)
          this.#value!.peek(payload, record.valueStart, record.valueEnd, this.#schemas.value)
          continue
        }
        const timestampMs = timestampType === 1 ? appendTimeMs : baseTimestampMs + record.timestampDeltaMs
        writer.beginRow(partition, offset, timestampMs, timestampType)
        writer.key(payload, record.keyStart, record.keyEnd, this.#schemas.key)
        writer.value(payload, record.valueStart, record.valueEnd, this.#schemas.value)
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
