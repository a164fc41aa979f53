import { chunkStart, Codec, type ChunkMeta } from '../../../../src/tables/parquet/footer.ts'
import { decodeFooter, footerBytes, leavesOf } from '../../../../src/tables/parquet/footerRead.ts'
import { encodeFooter } from '../../../../src/tables/parquet/footerWrite.ts'
import { Physical, parquetSchema } from '../../../../src/tables/parquet/schema.ts'
import { PageContext, dataPage } from '../../../../src/tables/parquet/page.ts'
import type { IcebergField } from '../../../../src/schemas/columns/types.ts'
import { LOG_FIELDS } from '../../../../src/tables/row/schema.ts'

/** The file with `count` nullable string columns before the log's, null in every row. */
export function widened(bytes: Buffer, count: number): Buffer {
  const meta = decodeFooter(bytes)
  const users = Array.from({ length: count }, (_, i): IcebergField => ({ id: 100 + i, name: `user_${i}`, required: false, type: 'string' }))
  const schema = parquetSchema([...users, ...LOG_FIELDS])
  const context = new PageContext({ pageBytes: 1 << 20, pageRows: 20_000, zstdLevel: 1 })
  const parts: Buffer[] = [bytes.subarray(0, 4)]
  let at = 4
  const put = (part: Buffer): number => {
    parts.push(part)
    at += part.length
    return at - part.length
  }
  const rowGroups = meta.rowGroups.map((group) => {
    const fileOffset = at
    const levels = {
      count: group.rows,
      rows: group.rows,
      nulls: group.rows,
      definition: new Uint8Array(group.rows),
      maxDefinition: 1,
      maxRepetition: 0,
      repetition: null,
    }
    const none = { offsetIndexOffset: -1, offsetIndexBytes: 0, columnIndexOffset: -1, columnIndexBytes: 0 }
    const added = users.map((_field, i): ChunkMeta => {
      const page = dataPage(context, levels, Buffer.from([128, 1, 4, 0, 0]), 6, 0)
      const dataOffset = put(Buffer.concat([page.head, page.body]))
      const storedBytes = at - dataOffset
      return {
        physical: Physical.bytes,
        encodings: [6, 3],
        path: schema.leaves[i].path,
        codec: Codec.zstd,
        values: group.rows,
        rawBytes: storedBytes,
        storedBytes,
        dataOffset,
        dictionaryOffset: -1,
        statistics: { nullCount: group.rows, minExact: false, maxExact: false },
        offsetIndexOffset: -1,
        offsetIndexBytes: 0,
        columnIndexOffset: -1,
        columnIndexBytes: 0,
      }
    })
    const start = Math.min(...group.chunks.map(chunkStart))
    const shift = put(bytes.subarray(start, start + group.storedBytes)) - start
    const moved = (offset: number): number => (offset < 0 ? offset : offset + shift)
    const chunks = group.chunks.map((chunk) =>
      Object.assign({}, chunk, { dataOffset: moved(chunk.dataOffset), dictionaryOffset: moved(chunk.dictionaryOffset) }, none),
    )
    return { rows: group.rows, rawBytes: group.rawBytes, storedBytes: at - fileOffset, fileOffset, chunks: [...added, ...chunks] }
  })
  const footer = encodeFooter(schema, rowGroups, [])
  if (leavesOf(decodeFooter(footer).elements).length !== count + 14 || footerBytes(footer) !== footer.length)
    throw new Error('a wrong footer')
  parts.push(footer)
  return Buffer.concat(parts)
}
