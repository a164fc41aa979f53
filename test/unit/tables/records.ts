import { BatchBuilder } from '../../../protocol/records/build.ts'
import {
  BATCH_HEADER_BYTES,
  batchAttributes,
  batchBaseOffset,
  batchBaseTimestampMs,
  batchCrcValid,
  batchMaxTimestampMs,
  batchRecordCount,
  timestampTypeOf,
  wholeBatchBytes,
} from '../../../protocol/records/header.ts'
import { walkHeaders, walkRecords } from '../../../protocol/records/walk.ts'
import type { PlainRow } from '../../../src/tables/row/crc.ts'
import { seeded } from '../../lib/random.ts'

export type TestRow = Omit<PlainRow, 'partition'>

/** Seeded values beyond numbers, so that a failing case can be run again. */
export function generator(seed: number): { int(below: number): number; bytes(length: number): Buffer; pick<T>(items: readonly T[]): T } {
  const { int } = seeded(seed)
  return {
    int,
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(256))),
    pick: (items) => items[int(items.length)],
  }
}

const TEXTS = ['', 'a', 'key', 'grüße', '冰晶', '\u{1f9ca}', '\ufeffmark', 'x'.repeat(300), '\0', '{"id":1}']

/** Rows of all kinds: null against empty, text and binary, repeated headers, null header values, holes, missing timestamps. */
export function mixedRows(count: number, seed = 1, firstOffset = 0): TestRow[] {
  const random = generator(seed)
  const blob = (): Buffer | null =>
    random.pick([
      () => null,
      () => Buffer.alloc(0),
      () => Buffer.from(random.pick(TEXTS)),
      () => random.bytes(random.int(40)),
      () => Buffer.from([0xff, 0xfe]),
    ])()
  let offset = firstOffset
  let timestampType = 0
  return Array.from({ length: count }, (_, i) => {
    if (i > 0) offset += random.int(10) === 0 ? 1 + random.int(1000) : 1
    if (random.int(50) === 0) timestampType = 1 - timestampType
    const headers = Array.from({ length: random.int(3) === 0 ? random.int(5) : 0 }, () => ({
      key: random.int(20) === 0 ? Buffer.from([0xc3]) : Buffer.from(random.pick(['', 'h', 'h', 'trace', 'ü'])),
      value: blob(),
    }))
    const timestampMs = random.int(15) === 0 ? -1 : 1790000000000 + random.int(1_000_000)
    return { offset, timestampMs, timestampType, key: blob(), value: blob(), headers }
  })
}

/** Whole batches back to back, offsets from the first row on; a new batch where the type or the append time changes. */
export function batchesFrom(rows: readonly TestRow[], options: { readonly codec?: number; readonly rowsPerBatch?: number } = {}): Buffer {
  const out: Uint8Array[] = []
  const rowsPerBatch = options.rowsPerBatch ?? 50
  const builders = ([0, 1] as const).map((timestampType) => new BatchBuilder({ timestampType, codec: options.codec }))
  let open: BatchBuilder | null = null
  // A batch spans up to the row that follows it, so that holes lie inside batches as they do in a log.
  const close = (nextOffset: number): void => {
    if (open !== null && open.count > 0) out.push(open.finish({ lastOffset: nextOffset - 1 }))
  }
  for (const row of rows) {
    const builder = builders[row.timestampType]
    if (builder !== open || builder.count >= rowsPerBatch || !builder.accepts(row.offset, row.timestampMs)) close(row.offset)
    open = builder
    const headers = headersWire(row.headers)
    builder.append(
      row.offset,
      row.timestampMs,
      row.key,
      0,
      row.key?.length ?? 0,
      row.value,
      0,
      row.value?.length ?? 0,
      headers,
      0,
      headers.length,
    )
  }
  if (rows.length > 0) close(rows[rows.length - 1].offset + 1)
  return Buffer.concat(out)
}

export function headersWire(headers: TestRow['headers']): Buffer {
  const parts: Uint8Array[] = [varint(headers.length)]
  for (const { key, value } of headers) {
    parts.push(varint(key.length), key)
    if (value === null) parts.push(varint(-1))
    else parts.push(varint(value.length), value)
  }
  return Buffer.concat(parts)
}

function varint(value: number): Buffer {
  let raw = ((value << 1) ^ (value >> 31)) >>> 0
  const out: number[] = []
  while (raw > 127) {
    out.push((raw & 127) | 128)
    raw >>>= 7
  }
  return Buffer.from([...out, raw])
}

/** The records of uncompressed batches; throws when a batch's own CRC does not hold. */
export function rowsOf(batches: Iterable<Uint8Array>): TestRow[] {
  const rows: TestRow[] = []
  for (const bytes of batches) {
    for (let at = 0; at < bytes.length;) {
      const size = wholeBatchBytes(bytes, at)
      if (size < 0 || !batchCrcValid(bytes, at)) throw new Error('no valid batch')
      const batch = Buffer.from(bytes.subarray(at, at + size))
      const timestampType = timestampTypeOf(batchAttributes(batch))
      const payload = batch.subarray(BATCH_HEADER_BYTES)
      walkRecords(payload, batchRecordCount(batch), (record) => {
        const headers: { key: Buffer; value: Buffer | null }[] = []
        walkHeaders(payload, record.headersStart, record.headerCount, (keyStart, keyEnd, valueStart, valueEnd) =>
          headers.push({ key: payload.subarray(keyStart, keyEnd), value: valueStart < 0 ? null : payload.subarray(valueStart, valueEnd) }),
        )
        rows.push({
          offset: batchBaseOffset(batch) + record.offsetDelta,
          timestampMs: timestampType === 1 ? batchMaxTimestampMs(batch) : batchBaseTimestampMs(batch) + record.timestampDeltaMs,
          timestampType,
          key: record.keyStart < 0 ? null : payload.subarray(record.keyStart, record.keyEnd),
          value: record.valueStart < 0 ? null : payload.subarray(record.valueStart, record.valueEnd),
          headers,
        })
      })
      at += size
    }
  }
  return rows
}

/** Rows with bytes as hex, for comparisons that read well when they fail. */
export function plain(rows: readonly TestRow[]): unknown[] {
  const hex = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString('hex'))
  return rows.map((row) => ({
    offset: row.offset,
    timestampMs: row.timestampMs,
    timestampType: row.timestampType,
    key: hex(row.key),
    value: hex(row.value),
    headers: row.headers.map((header) => [hex(header.key), hex(header.value)]),
  }))
}
