import { Physical, type Leaf } from './schema.ts'
import type { PageBounds, StoredChunk } from './leafWriter.ts'
import { ThriftReader } from './thriftRead.ts'
import { T, ThriftWriter } from './thriftWrite.ts'

/** Where a page stands in the file; `storedBytes` counts its header too. */
export interface PageLocation {
  readonly offset: number
  readonly storedBytes: number
  readonly firstRow: number
}

export function encodeOffsetIndex(locations: readonly PageLocation[]): Buffer {
  const out = new ThriftWriter()
  out.begin()
  out.list(1, T.struct, locations.length)
  for (const location of locations) {
    out.begin()
    out.i64(1, location.offset)
    out.i32(2, location.storedBytes)
    out.i64(3, location.firstRow)
    out.end()
  }
  out.end()
  return out.take()
}

/** The locations of an offset index. Errors: CORRUPT. */
export function decodeOffsetIndex(bytes: Uint8Array): PageLocation[] {
  const locations: PageLocation[] = []
  const reader = new ThriftReader(bytes)
  reader.struct((field, type) => {
    if (field !== 1 || type !== T.list) return false
    reader.list(() => {
      const location = { offset: 0, storedBytes: 0, firstRow: 0 }
      reader.struct((inner) => {
        if (inner === 1) location.offset = reader.int()
        else if (inner === 2) location.storedBytes = reader.int()
        else if (inner === 3) location.firstRow = reader.int()
        else return false
        return true
      })
      locations.push(location)
    })
    return true
  })
  return locations
}

/**
 * The column index of a chunk, or null where it cannot be right: a nested column (no reader filters by it), or a page
 * whose maximum has no bound of bearable length.
 */
export function encodeColumnIndex(chunk: StoredChunk): Buffer | null {
  const { leaf, pageBounds } = chunk
  if (leaf.maxRepetition > 0 || pageBounds.some((page) => page.min !== null && page.max === null)) return null
  const out = new ThriftWriter()
  out.begin()
  out.list(1, T.true, pageBounds.length)
  for (const page of pageBounds) out.elementBool(page.min === null)
  out.list(2, T.binary, pageBounds.length)
  for (const page of pageBounds) out.element(page.min ?? '')
  out.list(3, T.binary, pageBounds.length)
  for (const page of pageBounds) out.element(page.max ?? '')
  out.i32(4, isAscending(leaf, pageBounds) ? 1 : 0)
  out.list(5, T.i64, pageBounds.length)
  for (const page of pageBounds) out.elementInt(page.nulls)
  out.end()
  return out.take()
}

/** True when minima and maxima of the pages that have any both never fall (BoundaryOrder.ASCENDING). */
function isAscending(leaf: Leaf, pages: readonly PageBounds[]): boolean {
  const compare = comparator(leaf)
  let before: PageBounds | null = null
  for (const page of pages) {
    if (page.min === null) continue
    if (before !== null && (compare(before.min!, page.min) > 0 || compare(before.max!, page.max!) > 0)) return false
    before = page
  }
  return true
}

function comparator(leaf: Leaf): (a: Uint8Array, b: Uint8Array) => number {
  if (leaf.physical === Physical.int32) return (a, b) => (a as Buffer).readInt32LE() - (b as Buffer).readInt32LE()
  if (leaf.physical === Physical.int64) return (a, b) => Number((a as Buffer).readBigInt64LE() - (b as Buffer).readBigInt64LE())
  return Buffer.compare
}
