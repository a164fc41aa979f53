import { BatchBuilder } from '../../../protocol/records/build.ts'
import { RowCrc } from '../row/crc.ts'
import type { Typing } from '../../schemas/typing/typing.ts'
import type { RowSource } from '../parquet/rowGroupReader.ts'
import { RowBlobs } from '../typed/blobs.ts'
import { HeaderWire } from '../parquet/headerWire.ts'
import { corrupt } from '../parquet/thriftRead.ts'

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

/**
 * Batches lie side by side in memory of this size: each allocation less is work less for both threads and for the garbage
 * collector. Not larger, since a client that is slow to take one batch holds all that lies beside it.
 */
const SLAB_BYTES = 1024 * 1024

const EMPTY = new Uint8Array(0)

/**
 * Turns rows, sorted by partition and offset, into record batches: magic 2, base offsets set, leader epoch 0, no producer
 * id (L17), uncompressed. `typing` says how typed rows come back. Every row's kafka_crc is checked. Errors: CORRUPT, never a batch with altered bytes.
 */
export function batchesOf(source: RowSource, batchBytes = BATCH_BYTES, typing: Typing | null = null): BatchList {
  const blobs = new RowBlobs(source, typing)
  const builders = [new BatchBuilder({ slabBytes: SLAB_BYTES }), new BatchBuilder({ timestampType: 1, slabBytes: SLAB_BYTES })]
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

      blobs.read(i, offset)
      const { key, keyStart, keyEnd, value, valueStart, valueEnd } = blobs
      crc.begin(rowPartition, offset, timestampMs, timestampType)
      crc.blob(key ?? EMPTY, keyStart, keyEnd)
      crc.blob(value ?? EMPTY, valueStart, valueEnd)
      headers.read(source, i, crc)
      if (crc.finish() !== source.crc.values[source.crc.at + i]) throw damaged(rowPartition, offset)
      builder.append(offset, timestampMs, key, keyStart, keyEnd, value, valueStart, valueEnd, headers.bytes, headers.start, headers.end)
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
