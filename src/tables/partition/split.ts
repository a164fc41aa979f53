import { EMPTY_TYPING, type Typing } from '../../schemas/typing/typing.ts'
import type { PartitionValue } from '../iceberg/types.ts'
import { indexFile, openGroup } from '../parquet/fileIndex.ts'
import { RowCopier } from '../parquet/merge.ts'
import { RowFileWriter, type RowFileStats } from '../parquet/rowWriter.ts'
import { tupleKey } from './avro.ts'
import { partitionRouter } from './router.ts'
import type { BoundField } from './spec.ts'

export interface SplitPart {
  /** null: rows of many partitions, for which there was no place of their own; the file is one of an unpartitioned spec. */
  readonly values: readonly PartitionValue[] | null
  readonly stats: RowFileStats
  readonly chunks: readonly Uint8Array[]
}

/** Partitions of one file that get files of their own; rows of all others go to one catch-all file (T10, hazard K2). */
export const PARTS_MAX = 64

interface Open {
  readonly values: readonly PartitionValue[] | null
  readonly writer: RowFileWriter
  readonly copier: RowCopier
  readonly chunks: Uint8Array[]
}

/**
 * Splits a file of ours into files of one partition each. Rows keep their order; each is proved by its checksum on the way.
 * Meant for a worker thread. Errors: CORRUPT.
 */
export async function splitRowFile(
  file: Uint8Array,
  fields: readonly BoundField[],
  options: { readonly typing?: Typing; readonly partsMax?: number } = {},
): Promise<SplitPart[]> {
  const { typing = EMPTY_TYPING, partsMax = PARTS_MAX } = options
  const opened = new Map<string, Open>()
  const make = (key: string, values: readonly PartitionValue[] | null): Open => {
    const chunks: Uint8Array[] = []
    const writer = new RowFileWriter({ userFields: typing.fields }, (bytes) => chunks.push(bytes))
    const made = { values, writer, copier: new RowCopier(writer, typing), chunks }
    opened.set(key, made)
    return made
  }
  const index = indexFile(file, true)
  for (const group of index.groups) {
    const source = await openGroup(group, index.footer, file.subarray(group.start, group.end), index.userLeaves)
    const route = partitionRouter(source, fields)
    while (source.next()) {
      for (let row = 0; row < source.rows; row++) {
        const values = route(row)
        const key = tupleKey(values)
        const open = opened.get(key) ?? (opened.size < partsMax ? make(key, values) : (opened.get('') ?? make('', null)))
        const partition = source.partition.values[source.partition.at + row]!
        const offset = source.offset.values[source.offset.at + row]!
        open.copier.row(source, { row, partition, offset })
      }
    }
  }
  return [...opened.values()].map(({ values, writer, chunks }) => ({ values, stats: writer.finish(), chunks }))
}
