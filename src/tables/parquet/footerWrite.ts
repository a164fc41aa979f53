import { MAGIC, TAIL_BYTES, type ChunkMeta, type RowGroupMeta } from './footer.ts'
import type { LogicalKind, ParquetSchema, SchemaElement } from './schema.ts'
import { T, ThriftWriter } from './thriftWrite.ts'

const CREATED_BY = 'frazil version 1'

/** The footer: FileMetaData, its length, the magic. Key-value metadata is the caller's. */
export function encodeFooter(
  schema: ParquetSchema,
  rowGroups: readonly RowGroupMeta[],
  keyValues: readonly (readonly [string, string])[],
): Buffer {
  const out = new ThriftWriter()
  out.begin()
  out.i32(1, 2)
  out.list(2, T.struct, schema.elements.length)
  for (const element of schema.elements) writeElement(out, element)
  out.i64(
    3,
    rowGroups.reduce((sum, group) => sum + group.rows, 0),
  )
  out.list(4, T.struct, rowGroups.length)
  rowGroups.forEach((group, i) => writeRowGroup(out, group, i))
  if (keyValues.length > 0) {
    out.list(5, T.struct, keyValues.length)
    for (const [key, value] of keyValues) {
      out.begin()
      out.binary(1, key)
      out.binary(2, value)
      out.end()
    }
  }
  out.binary(6, CREATED_BY)
  // Without column orders Arrow ignores the min and max of strings.
  out.list(7, T.struct, schema.leaves.length)
  for (let i = 0; i < schema.leaves.length; i++) {
    out.begin()
    out.struct(1)
    out.end()
    out.end()
  }
  out.end()
  const metadata = out.take()
  const tail = Buffer.alloc(TAIL_BYTES)
  tail.writeUInt32LE(metadata.length, 0)
  MAGIC.copy(tail, 4)
  return Buffer.concat([metadata, tail])
}

/** Numbers of the LogicalType union, and of ConvertedType for readers that know no logical types. */
const LOGICAL: Readonly<Record<LogicalKind, { readonly logical: number; readonly converted?: number }>> = {
  string: { logical: 1, converted: 0 },
  map: { logical: 2, converted: 1 },
  list: { logical: 3, converted: 3 },
  decimal: { logical: 5, converted: 5 },
  date: { logical: 6, converted: 6 },
  time: { logical: 7 },
  timestamp: { logical: 8 },
  timestamptz: { logical: 8, converted: 10 },
  uuid: { logical: 14 },
}

function writeElement(out: ThriftWriter, element: SchemaElement): void {
  const { logical } = element
  out.begin()
  if (element.physical !== undefined) out.i32(1, element.physical)
  if (element.typeLength !== undefined) out.i32(2, element.typeLength)
  if (element.repetition !== undefined) out.i32(3, element.repetition)
  out.binary(4, element.name)
  if (element.children !== undefined) out.i32(5, element.children)
  if (logical !== undefined && LOGICAL[logical].converted !== undefined) out.i32(6, LOGICAL[logical].converted)
  if (element.scale !== undefined) out.i32(7, element.scale)
  if (element.precision !== undefined) out.i32(8, element.precision)
  if (element.fieldId !== undefined) out.i32(9, element.fieldId)
  if (logical !== undefined) {
    out.struct(10)
    out.struct(LOGICAL[logical].logical)
    if (logical === 'decimal') {
      out.i32(1, element.scale ?? 0)
      out.i32(2, element.precision ?? 0)
    } else if (logical === 'timestamptz' || logical === 'timestamp' || logical === 'time') {
      out.bool(1, logical === 'timestamptz')
      out.struct(2)
      out.struct(2)
      out.end()
      out.end()
    }
    out.end()
    out.end()
  }
  out.end()
}

function writeRowGroup(out: ThriftWriter, group: RowGroupMeta, ordinal: number): void {
  out.begin()
  out.list(1, T.struct, group.chunks.length)
  for (const chunk of group.chunks) writeChunk(out, chunk)
  out.i64(2, group.rawBytes)
  out.i64(3, group.rows)
  out.i64(5, group.fileOffset)
  out.i64(6, group.storedBytes)
  if (ordinal < 32768) out.i16(7, ordinal)
  out.end()
}

function writeChunk(out: ThriftWriter, chunk: ChunkMeta): void {
  out.begin()
  out.i64(2, 0)
  out.struct(3)
  out.i32(1, chunk.physical)
  out.list(2, T.i32, chunk.encodings.length)
  for (const encoding of chunk.encodings) out.elementInt(encoding)
  out.list(3, T.binary, chunk.path.length)
  for (const name of chunk.path) out.element(name)
  out.i32(4, chunk.codec)
  out.i64(5, chunk.values)
  out.i64(6, chunk.rawBytes)
  out.i64(7, chunk.storedBytes)
  out.i64(9, chunk.dataOffset)
  if (chunk.dictionaryOffset >= 0) out.i64(11, chunk.dictionaryOffset)
  if (chunk.statistics !== null) {
    const { nullCount, min, max, minExact, maxExact } = chunk.statistics
    out.struct(12)
    out.i64(3, nullCount)
    if (max !== undefined) out.binary(5, max)
    if (min !== undefined) out.binary(6, min)
    if (max !== undefined) out.bool(7, maxExact)
    if (min !== undefined) out.bool(8, minExact)
    out.end()
  }
  out.end()
  if (chunk.offsetIndexOffset >= 0) {
    out.i64(4, chunk.offsetIndexOffset)
    out.i32(5, chunk.offsetIndexBytes)
  }
  if (chunk.columnIndexOffset >= 0) {
    out.i64(6, chunk.columnIndexOffset)
    out.i32(7, chunk.columnIndexBytes)
  }
  out.end()
}
