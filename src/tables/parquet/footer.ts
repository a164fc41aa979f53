import { T, ThriftReader, ThriftWriter, corrupt } from './thrift.ts'
import type { Leaf, ParquetSchema, SchemaElement } from './schema.ts'

/** Numbers of parquet.thrift: Encoding, CompressionCodec, PageType. */
export const Encoding = { plain: 0, plainDictionary: 2, rle: 3, deltaBinaryPacked: 5, deltaLengthByteArray: 6, rleDictionary: 8 } as const
export const Codec = { uncompressed: 0, zstd: 6 } as const
export const PageType = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const

export const MAGIC = Buffer.from('PAR1')
/** Footer length and magic at the end of a file. */
export const TAIL_BYTES = 8

export interface ColumnStatistics {
  readonly nullCount: number
  readonly min?: Uint8Array
  readonly max?: Uint8Array
  readonly minExact: boolean
  readonly maxExact: boolean
}

/** A column chunk: offsets are absolute in the file; -1 for "none". */
export interface ChunkMeta {
  readonly physical: number
  readonly encodings: readonly number[]
  readonly path: readonly string[]
  readonly codec: number
  /** Levels of the chunk: rows, or elements and empty lists of a nested column. */
  readonly values: number
  readonly rawBytes: number
  readonly storedBytes: number
  readonly dataOffset: number
  readonly dictionaryOffset: number
  readonly statistics: ColumnStatistics | null
  offsetIndexOffset: number
  offsetIndexBytes: number
  columnIndexOffset: number
  columnIndexBytes: number
}

export interface RowGroupMeta {
  readonly rows: number
  readonly rawBytes: number
  readonly storedBytes: number
  readonly fileOffset: number
  readonly chunks: readonly ChunkMeta[]
}

export interface FileMeta {
  readonly rows: number
  readonly elements: readonly SchemaElement[]
  readonly rowGroups: readonly RowGroupMeta[]
  readonly createdBy: string
}

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

function writeElement(out: ThriftWriter, element: SchemaElement): void {
  out.begin()
  if (element.physical !== undefined) out.i32(1, element.physical)
  if (element.repetition !== undefined) out.i32(3, element.repetition)
  out.binary(4, element.name)
  if (element.children !== undefined) out.i32(5, element.children)
  // Converted types for readers that know no logical types: UTF8 0, LIST 3, TIMESTAMP_MICROS 10.
  if (element.logical !== undefined) out.i32(6, { string: 0, list: 3, timestamptz: 10 }[element.logical])
  if (element.fieldId !== undefined) out.i32(9, element.fieldId)
  if (element.logical !== undefined) {
    out.struct(10)
    out.struct({ string: 1, list: 3, timestamptz: 8 }[element.logical])
    if (element.logical === 'timestamptz') {
      out.bool(1, true)
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

/** The length of the footer whose last bytes these are, magic and length included. Errors: CORRUPT. */
export function footerBytes(tail: Uint8Array): number {
  if (tail.length < TAIL_BYTES) throw corrupt('a table file is too short')
  const at = tail.length - TAIL_BYTES
  for (let i = 0; i < 4; i++) if (tail[at + 4 + i] !== MAGIC[i]) throw corrupt('a table file does not end as a Parquet file does')
  return (tail[at] | (tail[at + 1] << 8) | (tail[at + 2] << 16)) + tail[at + 3] * 0x1000000 + TAIL_BYTES
}

/** Decodes the footer at the end of `bytes`, which must hold all of it. Errors: CORRUPT. */
export function decodeFooter(bytes: Uint8Array): FileMeta {
  const size = footerBytes(bytes)
  if (size > bytes.length) throw corrupt('the footer of a table file is longer than the file')
  const reader = new ThriftReader(bytes, bytes.length - size, bytes.length - TAIL_BYTES)
  const elements: SchemaElement[] = []
  const rowGroups: RowGroupMeta[] = []
  let rows = 0
  let createdBy = ''
  reader.struct((field, type) => {
    if (field === 2 && type === T.list) reader.list(() => elements.push(readElement(reader)))
    else if (field === 3) rows = reader.int()
    else if (field === 4 && type === T.list) reader.list(() => rowGroups.push(readRowGroup(reader)))
    else if (field === 6) createdBy = reader.string()
    else return false
    return true
  })
  return { rows, elements, rowGroups, createdBy }
}

function readElement(reader: ThriftReader): SchemaElement {
  const element: {
    name: string
    repetition?: number
    physical?: number
    logical?: 'string' | 'timestamptz' | 'list'
    children?: number
    fieldId?: number
  } = { name: '' }
  reader.struct((field) => {
    if (field === 1) element.physical = reader.int()
    else if (field === 3) element.repetition = reader.int()
    else if (field === 4) element.name = reader.string()
    else if (field === 5) element.children = reader.int()
    else if (field === 6) element.logical = ({ 0: 'string', 3: 'list', 10: 'timestamptz' } as const)[reader.int() as 0]
    else if (field === 9) element.fieldId = reader.int()
    else return false
    return true
  })
  return element
}

function readRowGroup(reader: ThriftReader): RowGroupMeta {
  const chunks: ChunkMeta[] = []
  const group = { rows: 0, rawBytes: 0, storedBytes: 0, fileOffset: 0, chunks }
  reader.struct((field, type) => {
    if (field === 1 && type === T.list) reader.list(() => chunks.push(readChunk(reader)))
    else if (field === 2) group.rawBytes = reader.int()
    else if (field === 3) group.rows = reader.int()
    else if (field === 5) group.fileOffset = reader.int()
    else if (field === 6) group.storedBytes = reader.int()
    else return false
    return true
  })
  return group
}

function readChunk(reader: ThriftReader): ChunkMeta {
  const encodings: number[] = []
  const path: string[] = []
  const chunk = {
    physical: -1,
    encodings,
    path,
    codec: 0,
    values: 0,
    rawBytes: 0,
    storedBytes: 0,
    dataOffset: -1,
    dictionaryOffset: -1,
    statistics: null as ColumnStatistics | null,
    offsetIndexOffset: -1,
    offsetIndexBytes: 0,
    columnIndexOffset: -1,
    columnIndexBytes: 0,
  }
  reader.struct((field, type) => {
    if (field === 3 && type === T.struct) {
      reader.struct((inner, innerType) => {
        if (inner === 1) chunk.physical = reader.int()
        else if (inner === 2) reader.list(() => encodings.push(reader.int()))
        else if (inner === 3) reader.list(() => path.push(reader.string()))
        else if (inner === 4) chunk.codec = reader.int()
        else if (inner === 5) chunk.values = reader.int()
        else if (inner === 6) chunk.rawBytes = reader.int()
        else if (inner === 7) chunk.storedBytes = reader.int()
        else if (inner === 9) chunk.dataOffset = reader.int()
        else if (inner === 11) chunk.dictionaryOffset = reader.int()
        else if (inner === 12 && innerType === T.struct) chunk.statistics = readStatistics(reader)
        else return false
        return true
      })
    } else if (field === 4) chunk.offsetIndexOffset = reader.int()
    else if (field === 5) chunk.offsetIndexBytes = reader.int()
    else if (field === 6) chunk.columnIndexOffset = reader.int()
    else if (field === 7) chunk.columnIndexBytes = reader.int()
    else return false
    return true
  })
  return chunk
}

function readStatistics(reader: ThriftReader): ColumnStatistics {
  const statistics: { nullCount: number; min?: Uint8Array; max?: Uint8Array; minExact: boolean; maxExact: boolean } = {
    nullCount: -1,
    minExact: false,
    maxExact: false,
  }
  reader.struct((field, type) => {
    if (field === 3) statistics.nullCount = reader.int()
    else if (field === 5) statistics.max = reader.binary()
    else if (field === 6) statistics.min = reader.binary()
    else if (field === 7) statistics.maxExact = type === T.true
    else if (field === 8) statistics.minExact = type === T.true
    else return false
    return true
  })
  return statistics
}

/** Where a leaf's chunk begins: its dictionary page when it has one. */
export function chunkStart(chunk: Pick<ChunkMeta, 'dataOffset' | 'dictionaryOffset'>): number {
  return chunk.dictionaryOffset > 0 && chunk.dictionaryOffset < chunk.dataOffset ? chunk.dictionaryOffset : chunk.dataOffset
}

/** The leaves of a decoded schema, in the order of a row group's chunks. Errors: CORRUPT. */
export function leavesOf(elements: readonly SchemaElement[]): Leaf[] {
  const leaves: Leaf[] = []
  let at = 1
  const walk = (path: readonly string[], definition: number, repetition: number, depth: number): void => {
    const element = elements[at++]
    if (element === undefined || depth > 32) throw corrupt('the schema of a table file is no tree')
    const here = [...path, element.name]
    const nextDefinition = definition + (element.repetition === 0 ? 0 : 1)
    const nextRepetition = repetition + (element.repetition === 2 ? 1 : 0)
    if (element.children === undefined || element.children === 0) {
      leaves.push({
        id: element.fieldId ?? -1,
        path: here,
        physical: element.physical ?? -1,
        logical: element.logical,
        maxDefinition: nextDefinition,
        maxRepetition: nextRepetition,
      })
    } else for (let i = 0; i < element.children; i++) walk(here, nextDefinition, nextRepetition, depth + 1)
  }
  while (at < elements.length) walk([], 0, 0, 0)
  return leaves
}
