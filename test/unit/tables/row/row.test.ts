import { expect, test } from 'vitest'
import { crcOfRow, type PlainRow } from '../../../../src/tables/row/crc.ts'
import { mixedRows } from '../records.ts'

/** CRC-32C bit by bit (Castagnoli, reflected 0x82f63b78), as an independent check. */
function crc32cSlow(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return ~crc
}

/** The bytes that DESIGN.md says the checksum is over. */
function checksummed(row: PlainRow): Buffer {
  const fixed = Buffer.alloc(21)
  fixed.writeInt32BE(row.partition, 0)
  fixed.writeBigInt64BE(BigInt(row.offset), 4)
  fixed.writeBigInt64BE(BigInt(row.timestampMs), 12)
  fixed.writeInt8(row.timestampType, 20)
  const int32 = (value: number): Buffer => {
    const bytes = Buffer.alloc(4)
    bytes.writeInt32BE(value)
    return bytes
  }
  const blob = (bytes: Uint8Array | null): Buffer => (bytes === null ? int32(-1) : Buffer.concat([int32(bytes.length), bytes]))
  const headers = row.headers.flatMap((header) => [blob(header.key), blob(header.value)])
  return Buffer.concat([fixed, blob(row.key), blob(row.value), int32(row.headers.length), ...headers])
}

test('the checksum is CRC-32C', () => {
  // RFC 3720, B.4: 32 bytes of zeroes.
  expect(crc32cSlow(new Uint8Array(32)) >>> 0).toBe(0x8a9136aa)
})

test('kafka_crc is over what DESIGN.md says, for rows of all kinds and sizes', () => {
  const rows: PlainRow[] = mixedRows(300, 17).map((row) => Object.assign(row, { partition: row.offset % 5 }))
  const large = [4095, 4096, 4097, 20_000].flatMap((size) => {
    const value = Buffer.alloc(size, 7)
    const headers = [
      { key: Buffer.alloc(size, 65), value: null },
      { key: Buffer.from('h'), value },
    ]
    return [
      { ...rows[0], value },
      { ...rows[0], key: value, value: null, headers },
    ]
  })
  for (const row of [...rows, ...large, { ...rows[0], offset: 2 ** 53 - 1, timestampMs: -9_007_199_254_740 }]) {
    expect(crcOfRow(row)).toBe(crc32cSlow(checksummed(row)))
  }
})

test('null, empty and absent parts give different checksums', () => {
  const row: PlainRow = { partition: 0, offset: 0, timestampMs: -1, timestampType: 0, key: null, value: null, headers: [] }
  const empty = Buffer.alloc(0)
  const variants: PlainRow[] = [
    row,
    { ...row, key: empty },
    { ...row, value: empty },
    { ...row, headers: [{ key: empty, value: null }] },
    { ...row, headers: [{ key: empty, value: empty }] },
    { ...row, timestampType: 1 },
    { ...row, timestampMs: 0 },
    { ...row, partition: 1 },
    { ...row, offset: 1 },
  ]
  expect(new Set(variants.map(crcOfRow)).size).toBe(variants.length)
})
