import type { SchemaElement } from './schema.ts'

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

/** Where a leaf's chunk begins: its dictionary page when it has one. */
export function chunkStart(chunk: Pick<ChunkMeta, 'dataOffset' | 'dictionaryOffset'>): number {
  return chunk.dictionaryOffset > 0 && chunk.dictionaryOffset < chunk.dataOffset ? chunk.dictionaryOffset : chunk.dataOffset
}
