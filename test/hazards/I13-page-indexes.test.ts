import { parquetMetadata, parquetReadObjects, type FileMetaData } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { describe, expect, test } from 'vitest'
import { ChunkPages } from '../../src/tables/parquet/pageReader.ts'
import { LOG_LEAVES } from '../../src/tables/parquet/rowGroupReader.ts'
import { decodeFooter } from '../../src/tables/parquet/footerRead.ts'
import { decodeOffsetIndex } from '../../src/tables/parquet/pageIndex.ts'
import { ThriftReader } from '../../src/tables/parquet/thriftRead.ts'
import { encodeFile } from '../unit/tables/files.ts'
import { mixedRows } from '../unit/tables/records.ts'

// I13: page indexes whose first rows counted values of a list instead of rows, a wrong boundary order, wrong run lengths, a
// dictionary without its offset.

const rows = mixedRows(2000, 13)
const file = encodeFile([{ partition: 0, rows }], { pageRows: 100 }).bytes
const buffer = Uint8Array.from(file).buffer
const metadata: FileMetaData = parquetMetadata(buffer)
const chunks = decodeFooter(file).rowGroups[0].chunks

describe.each(chunks.map((_chunk, i) => [LOG_LEAVES[i].path.join('.'), i] as const))('%s', (_name, i) => {
  test('its offset index names the pages that are there, each from its first row', () => {
    const { offsetIndexOffset, offsetIndexBytes } = chunks[i]
    const locations = decodeOffsetIndex(file.subarray(offsetIndexOffset, offsetIndexOffset + offsetIndexBytes))
    expect(locations.length).toBe(20)
    const pages = new ChunkPages(LOG_LEAVES[i], chunks[i], file, 0)
    let row = 0
    let end = chunks[i].dataOffset
    for (const location of locations) {
      expect(location).toMatchObject({ firstRow: row, offset: end })
      const page = pages.next()!
      expect(page.repetition?.[0] ?? 0).toBe(0)
      row += page.rows
      end += location.storedBytes
    }
    expect(pages.next()).toBeNull()
    expect(row).toBe(2000)
  })
})

test('column indexes are there for flat columns, and only offsets and what is constant are called ascending', () => {
  const orders = chunks.map((chunk) => {
    if (chunk.columnIndexOffset < 0) return null
    let order = -1
    const reader = new ThriftReader(file, chunk.columnIndexOffset, chunk.columnIndexOffset + chunk.columnIndexBytes)
    reader.struct((field) => {
      if (field !== 4) return false
      order = reader.int()
      return true
    })
    return order
  })
  const at = (id: number): number | null => orders[LOG_LEAVES.findIndex((leaf) => leaf.id === id)]
  expect([at(13), at(14)]).toEqual([null, null])
  expect([at(1), at(2)]).toEqual([1, 1])
  expect([at(3), at(16)]).toEqual([0, 0])
})

test('dictionaries have their offset before the first data page, and no other column has one', () => {
  for (const column of metadata.row_groups[0].columns) {
    const { dictionary_page_offset, data_page_offset, encodings } = column.meta_data!
    expect(dictionary_page_offset !== undefined).toBe(encodings.includes('RLE_DICTIONARY'))
    expect(dictionary_page_offset === undefined || dictionary_page_offset < data_page_offset).toBe(true)
  }
})

test('a filter by offset finds its rows, lists and all, through the page index of another reader', async () => {
  const from = rows[1234].offset
  const to = rows[1300].offset
  const filter = { kafka_offset: { $gte: BigInt(from), $lte: BigInt(to) } }
  const objects = await parquetReadObjects({ file: buffer, compressors, filter, columns: ['kafka_offset', 'kafka_headers', 'kafka_crc'] })
  const all = await parquetReadObjects({ file: buffer, compressors, columns: ['kafka_offset', 'kafka_headers', 'kafka_crc'] })
  expect(objects).toEqual(all.slice(1234, 1301))
})
