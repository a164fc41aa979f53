import { MAGIC, TAIL_BYTES, type ChunkMeta, type ColumnStatistics, type FileMeta, type RowGroupMeta } from './footer.ts'
import type { Leaf, LogicalKind, SchemaElement } from './schema.ts'
import { ThriftReader, corrupt } from './thriftRead.ts'
import { T } from './thriftWrite.ts'

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

/** What ConvertedType tells of the logical type; what has none there is not needed for reading. */
const CONVERTED: Readonly<Record<number, LogicalKind>> = { 0: 'string', 1: 'map', 3: 'list', 5: 'decimal', 6: 'date', 10: 'timestamptz' }

function readElement(reader: ThriftReader): SchemaElement {
  const element: {
    name: string
    repetition?: number
    physical?: number
    logical?: LogicalKind
    typeLength?: number
    children?: number
    fieldId?: number
  } = { name: '' }
  reader.struct((field) => {
    if (field === 1) element.physical = reader.int()
    else if (field === 2) element.typeLength = reader.int()
    else if (field === 3) element.repetition = reader.int()
    else if (field === 4) element.name = reader.string()
    else if (field === 5) element.children = reader.int()
    else if (field === 6) element.logical = CONVERTED[reader.int()]
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
        ...(element.logical === undefined ? {} : { logical: element.logical }),
        ...(element.typeLength === undefined ? {} : { typeLength: element.typeLength }),
        maxDefinition: nextDefinition,
        maxRepetition: nextRepetition,
      })
    } else for (let i = 0; i < element.children; i++) walk(here, nextDefinition, nextRepetition, depth + 1)
  }
  while (at < elements.length) walk([], 0, 0, 0)
  return leaves
}
