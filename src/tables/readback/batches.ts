import { BatchBuilder } from '../../../protocol/records/build.ts'
import { RowCrc } from '../row/crc.ts'
import { Form } from '../row/schema.ts'
import type { Ints, RowSource, Strings } from '../parquet/rowGroupReader.ts'
import { corrupt } from '../parquet/thrift.ts'

/** Record batches of one row group, in the order of (partition, offset). Arrays run side by side, one entry a batch. */
export interface BatchList {
  readonly partitions: Int32Array
  readonly firstOffsets: Float64Array
  readonly lastOffsets: Float64Array
  readonly maxTimestampsMs: Float64Array
  readonly batches: readonly Uint8Array[]
}

/** A batch is closed once it has this many bytes: small, so that a fetch fills its limit well and begins close by. */
export const BATCH_BYTES = 128 * 1024

const EMPTY = new Uint8Array(0)

/**
 * Turns rows, sorted by partition and offset, into record batches: magic 2, base offsets set, leader epoch 0, no producer
 * id (L17), uncompressed. Every row's kafka_crc is checked. Errors: CORRUPT, never a batch with altered bytes.
 */
export function batchesOf(source: RowSource, batchBytes = BATCH_BYTES): BatchList {
  const builders = [
    new BatchBuilder({ initialBytes: batchBytes * 2 }),
    new BatchBuilder({ timestampType: 1, initialBytes: batchBytes * 2 }),
  ]
  const crc = new RowCrc()
  const headers = new HeaderWire()
  const partitions: number[] = []
  const firstOffsets: number[] = []
  const lastOffsets: number[] = []
  const maxTimestampsMs: number[] = []
  const batches: Uint8Array[] = []
  let builder = builders[0]
  let partition = -1
  let firstOffset = 0
  let lastOffset = -1
  let maxTimestampMs = -1

  const finish = (): void => {
    if (builder.count === 0) return
    partitions.push(partition)
    firstOffsets.push(firstOffset)
    lastOffsets.push(lastOffset)
    maxTimestampsMs.push(maxTimestampMs)
    batches.push(builder.finish())
  }

  while (source.next()) {
    for (let i = 0; i < source.rows; i++) {
      const rowPartition = source.partition.values[source.partition.at + i]
      const offset = source.offset.values[source.offset.at + i]
      const timestampMs = source.timestampMs.values[source.timestampMs.at + i]
      const timestampType = source.timestampType.values[source.timestampType.at + i]
      if (timestampType !== 0 && timestampType !== 1) throw damaged(rowPartition, offset)
      if (rowPartition < partition || (rowPartition === partition && offset <= lastOffset)) {
        throw corrupt(`partition ${rowPartition} offset ${offset} is out of order in a table file`)
      }
      const next = builders[timestampType]
      if (rowPartition !== partition || next !== builder || builder.sizeBytes >= batchBytes || !builder.accepts(offset, timestampMs)) {
        finish()
        builder = next
        partition = rowPartition
      }
      if (builder.count === 0) {
        firstOffset = offset
        maxTimestampMs = -1
      }
      lastOffset = offset
      if (timestampMs > maxTimestampMs) maxTimestampMs = timestampMs

      const key = column(source.keyForm, source.key, source.keyBytes, i, offset)
      const value = column(source.valueForm, source.value, source.valueBytes, i, offset)
      const keyStart = key === null ? -1 : key.starts[key.at + i]
      const keyEnd = key === null ? -1 : keyStart + key.lengths[key.at + i]
      const valueStart = value === null ? -1 : value.starts[value.at + i]
      const valueEnd = value === null ? -1 : valueStart + value.lengths[value.at + i]
      crc.begin(rowPartition, offset, timestampMs, timestampType)
      crc.blob(key?.bytes ?? EMPTY, keyStart, keyEnd)
      crc.blob(value?.bytes ?? EMPTY, valueStart, valueEnd)
      headers.read(source, i, crc)
      if (crc.finish() !== source.crc.values[source.crc.at + i]) throw damaged(rowPartition, offset)
      builder.append(
        offset,
        timestampMs,
        key === null ? null : key.bytes,
        keyStart,
        keyEnd,
        value === null ? null : value.bytes,
        valueStart,
        valueEnd,
        headers.bytes,
        headers.start,
        headers.end,
      )
    }
  }
  finish()
  return {
    partitions: Int32Array.from(partitions),
    firstOffsets: Float64Array.from(firstOffsets),
    lastOffsets: Float64Array.from(lastOffsets),
    maxTimestampsMs: Float64Array.from(maxTimestampsMs),
    batches,
  }
}

function damaged(partition: number, offset: number): Error {
  return corrupt(`partition ${partition} offset ${offset}: the row of the table file does not match its checksum`)
}

/** The column that a key or value comes back from; null for a null. */
function column(form: Ints, text: Strings, binary: Strings, i: number, offset: number): Strings | null {
  const kind = form.values[form.at + i]
  if (kind === Form.null) return null
  const from = kind === Form.string ? text : kind === Form.binary ? binary : null
  if (from === null) throw corrupt(`offset ${offset}: form ${kind} is unknown`)
  if (from.starts[from.at + i] < 0) throw corrupt(`offset ${offset}: form ${kind} says that bytes are there, and they are not`)
  return from
}

/** The headers of a row in wire form: `bytes` null when there are none. */
class HeaderWire {
  bytes: Uint8Array | null = null
  start = 0
  end = 0
  #scratch = Buffer.allocUnsafeSlow(4096)
  #at = 0

  /** Reads row i of the block and feeds the checksum. */
  read(source: RowSource, i: number, crc: RowCrc): void {
    const { headerKeys, headerValues, headersBytes } = source
    const count = headerKeys.counts[headerKeys.at + i]
    if (headerValues.counts[headerValues.at + i] !== count) throw corrupt('header keys and values differ in number')
    if (count > 0) return this.#fromList(source, i, count, crc)
    const wireStart = count < 0 ? headersBytes.starts[headersBytes.at + i] : -1
    if (wireStart < 0) {
      this.bytes = null
      crc.count(0)
      return
    }
    this.bytes = headersBytes.bytes
    this.start = wireStart
    this.end = wireStart + headersBytes.lengths[headersBytes.at + i]
    this.#check(crc)
  }

  #fromList(source: RowSource, i: number, count: number, crc: RowCrc): void {
    const { headerKeys: keys, headerValues: values } = source
    const firstKey = keys.firsts[keys.at + i]
    const firstValue = values.firsts[values.at + i]
    crc.count(count)
    this.#at = 0
    this.#varint(count)
    for (let h = 0; h < count; h++) {
      const keyStart = keys.starts[firstKey + h]
      const keyEnd = keyStart + keys.lengths[firstKey + h]
      if (keyStart < 0) throw corrupt('a header has no key')
      const valueStart = values.starts[firstValue + h]
      const valueEnd = valueStart < 0 ? -1 : valueStart + values.lengths[firstValue + h]
      crc.blob(keys.bytes, keyStart, keyEnd)
      crc.blob(values.bytes, valueStart, valueEnd)
      this.#varint(keyEnd - keyStart)
      this.#copy(keys.bytes, keyStart, keyEnd)
      if (valueStart < 0) this.#varint(-1)
      else {
        this.#varint(valueEnd - valueStart)
        this.#copy(values.bytes, valueStart, valueEnd)
      }
    }
    this.bytes = this.#scratch
    this.start = 0
    this.end = this.#at
  }

  /** Walks wire bytes within their bounds; they are stored bytes, so nothing in them is trusted. */
  #check(crc: RowCrc): void {
    const bytes = this.bytes!
    let at = this.start
    const varint = (): number => {
      let raw = 0
      for (let shift = 0; shift < 35; shift += 7) {
        if (at >= this.end) break
        const byte = bytes[at++]
        raw |= (byte & 127) << shift
        if (byte < 128) return (raw >>> 1) ^ -(raw & 1)
      }
      throw corrupt('kafka_headers_bytes ends too early')
    }
    const blob = (length: number): void => {
      if (length < -1 || length > this.end - at) throw corrupt('kafka_headers_bytes ends too early')
      if (length < 0) return crc.blob(bytes, -1, -1)
      crc.blob(bytes, at, at + length)
      at += length
    }
    const count = varint()
    crc.count(count)
    for (let h = 0; h < count; h++) {
      const keyBytes = varint()
      if (keyBytes < 0) throw corrupt('a header has no key')
      blob(keyBytes)
      blob(varint())
    }
    if (at !== this.end) throw corrupt('kafka_headers_bytes goes on after its headers')
  }

  #varint(value: number): void {
    this.#room(5)
    let raw = ((value << 1) ^ (value >> 31)) >>> 0
    while (raw > 127) {
      this.#scratch[this.#at++] = (raw & 127) | 128
      raw >>>= 7
    }
    this.#scratch[this.#at++] = raw
  }

  #copy(bytes: Uint8Array, start: number, end: number): void {
    this.#room(end - start)
    this.#scratch.set(bytes.subarray(start, end), this.#at)
    this.#at += end - start
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#scratch.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#at + bytes, this.#scratch.length * 2))
    this.#scratch.copy(larger, 0, 0, this.#at)
    this.#scratch = larger
  }
}
