import type { RowSource, Strings } from '../parquet/rowGroupReader.ts'
import { Physical } from '../parquet/schema.ts'
import { ColumnId } from '../row/schema.ts'
import type { PartitionValue } from '../iceberg/types.ts'
import type { BoundField } from './spec.ts'
import { transformer, type SourceValue } from './values.ts'

/** The value of a column in row i of a source's block. */
type ValueReader = (i: number) => SourceValue

function strings(column: Strings): ValueReader {
  return (i) => {
    const at = column.at + i
    const start = column.starts[at]!
    return start < 0 ? null : column.bytes.subarray(start, start + column.lengths[at]!)
  }
}

function logReader(source: RowSource, id: number): ValueReader | null {
  const ints = (column: RowSource['partition']): ValueReader => {
    return (i) => column.values[column.at + i]!
  }
  switch (id) {
    case ColumnId.partition:
      return ints(source.partition)
    case ColumnId.offset:
      return (i) => BigInt(source.offset.values[source.offset.at + i]!)
    case ColumnId.timestamp:
      return (i) => {
        const ms = source.timestampMs.values[source.timestampMs.at + i]!
        return ms === -1 ? null : BigInt(ms) * 1000n
      }
    case ColumnId.timestampType:
      return ints(source.timestampType)
    case ColumnId.key:
      return strings(source.key)
    case ColumnId.keyBytes:
      return strings(source.keyBytes)
    case ColumnId.keyForm:
      return ints(source.keyForm)
    case ColumnId.value:
      return strings(source.value)
    case ColumnId.valueBytes:
      return strings(source.valueBytes)
    case ColumnId.valueForm:
      return ints(source.valueForm)
    case ColumnId.headersBytes:
      return strings(source.headersBytes)
    case ColumnId.crc:
      return ints(source.crc)
    default:
      return null
  }
}

function userReader(source: RowSource, { sourceId, sourceType }: BoundField): ValueReader {
  const column = source.columns.get(sourceId)
  if (column === undefined) return () => null
  const { physical, maxDefinition } = column.leaf
  const isDecimal = sourceType.startsWith('decimal')
  return (i) => {
    column.seek(i)
    if (column.definition[column.entry] !== maxDefinition) return null
    const at = column.valueAt[column.entry]!
    if (physical === Physical.boolean) return column.ints[at] !== 0
    if (physical === Physical.int32) return isDecimal ? BigInt(column.ints[at]!) : column.ints[at]!
    if (physical === Physical.int64) return (BigInt(column.ints[2 * at + 1]!) << 32n) | BigInt(column.ints[2 * at]! >>> 0)
    const bytes = column.data.subarray(column.starts[at], column.starts[at + 1])
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (physical === Physical.float) return view.getFloat32(0, true)
    if (physical === Physical.double) return view.getFloat64(0, true)
    return isDecimal ? BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`)) : bytes
  }
}

/** Tells the partition of each row of a source: its values in the order of the fields. */
export function partitionRouter(source: RowSource, fields: readonly BoundField[]): (i: number) => PartitionValue[] {
  const readers = fields.map((field) => {
    const read = logReader(source, field.sourceId) ?? userReader(source, field)
    const transform = transformer(field.transform, field.sourceType)
    return (i: number): PartitionValue => {
      const value = transform(read(i))
      // Bytes of a page are not kept: the next one may stand in their place.
      return value instanceof Uint8Array ? Uint8Array.from(value) : value
    }
  })
  return (i) => readers.map((read) => read(i))
}
