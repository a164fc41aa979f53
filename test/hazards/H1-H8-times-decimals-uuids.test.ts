import { describe, expect, it } from 'vitest'
import { microsOf } from '../../src/schemas/json/times.ts'
import { frame, makeFile, objectsOf, rowsBack, sourceOf, type Made, type Row } from '../unit/tables/typed/lib.ts'

async function same(made: Made, rows: readonly Row[]): Promise<void> {
  const back = await rowsBack(made.bytes, made.typing)
  expect(back.map((row) => row.value)).toEqual(rows.map((row) => row.value))
}

function zigzag(value: bigint): Buffer {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  const bytes: number[] = []
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128)
    rest >>= 7n
  }
  return Buffer.from([...bytes, Number(rest)])
}

const one = (type: object): ReturnType<typeof sourceOf> =>
  sourceOf({ 1: { schema: JSON.stringify({ type: 'record', name: 'R', fields: [{ name: 'v', type }] }) } })

/** The number that the file's bounds have for column `v`. */
const bound = (made: Made, which: 'lowerBounds' | 'upperBounds'): Uint8Array | undefined => made.stats[which].get(100)

describe('H1, H4: microseconds stay microseconds, in rows and in bounds', () => {
  it.each([
    ['timestamp-micros', 1_731_508_712_229_224n, 1_731_508_712_229_224n],
    ['timestamp-millis', 1_731_508_712_229n, 1_731_508_712_229_000n],
    ['timestamp-nanos', 1_731_508_712_229_224_000n, 1_731_508_712_229_224n],
  ])('%s', async (logicalType, stored, micros) => {
    const rows = [{ value: frame(1, zigzag(stored)) }]
    const made = await makeFile(rows, one({ type: 'long', logicalType }))
    expect(made.counts.exact).toBe(1)
    expect(Buffer.from(bound(made, 'lowerBounds')!).readBigInt64LE()).toBe(micros)
    await same(made, rows)
  })

  it('nanoseconds that do not fit, and times beyond year 9999, keep their bytes', async () => {
    const rows = [{ value: frame(1, zigzag(1_731_508_712_229_224_001n)) }]
    const made = await makeFile(rows, one({ type: 'long', logicalType: 'timestamp-nanos' }))
    expect(made.counts).toMatchObject({ exact: 0, raw: 1 })
    await same(made, rows)
    const far = [253_402_300_799_999_999n, 253_402_300_800_000_000n].map((value) => ({ value: frame(1, zigzag(value)) }))
    const other = await makeFile(far, one({ type: 'long', logicalType: 'timestamp-micros' }))
    expect(other.counts).toMatchObject({ exact: 1, raw: 1 })
    expect((await objectsOf(other))[1].v).toBe(null)
    await same(other, far)
  })
})

describe('H3: offsets and fractions of times as text', () => {
  it.each([
    ['2024-01-01T00:00:00Z', 1_704_067_200_000_000n],
    ['2024-01-01T00:00:00.123+0530', 1_704_047_400_123_000n],
    ['2024-01-01T00:00:00.123+05:30', 1_704_047_400_123_000n],
    ['2024-01-01T00:00:00.123456-01:00', 1_704_070_800_123_456n],
    ['2024-01-01T00:00:00.123456789Z', 1_704_067_200_123_456n],
  ])('%s', (text, micros) => expect(microsOf(text)?.value).toBe(micros))
  it.each(['2024-02-30T00:00:00Z', '2024-01-01', '2024-01-01T25:00:00Z', 'x'])('%s is none', (text) => expect(microsOf(text)).toBe(null))
})

describe('H5, H6, H7: decimals', () => {
  const bytes = (hex: string): Buffer => {
    const body = Buffer.from(hex, 'hex')
    return Buffer.concat([zigzag(BigInt(body.length)), body])
  }
  it.each([
    [9, 2],
    [18, 2],
    [38, 2],
  ])('of %i digits: -1, -128, -129, 127, 128, and their bounds', async (precision, scale) => {
    const rows = ['ff', '80', 'ff7f', '7f', '0080', '00'].map((hex) => ({ value: frame(1, bytes(hex)) }))
    const made = await makeFile(rows, one({ type: 'bytes', logicalType: 'decimal', precision, scale }))
    expect(made.counts.exact).toBe(6)
    expect((await objectsOf(made)).map((row) => row.v)).toEqual([-0.01, -1.28, -1.29, 1.27, 1.28, 0])
    expect(Buffer.from(bound(made, 'lowerBounds')!).toString('hex')).toBe('ff7f')
    expect(Buffer.from(bound(made, 'upperBounds')!).toString('hex')).toBe('0080')
    await same(made, rows)
  })

  it('needless bytes and too many digits keep their bytes', async () => {
    const digits = (10n ** 39n - 1n).toString(16).padStart(34, '0')
    const most = (10n ** 38n - 1n).toString(16).padStart(32, '0')
    const rows = [`00${most}`.slice(2), `0000ff`, digits].map((hex) => ({ value: frame(1, bytes(hex)) }))
    const made = await makeFile(rows, one({ type: 'bytes', logicalType: 'decimal', precision: 38, scale: 0 }))
    expect(made.counts).toEqual({ exact: 1, raw: 2, undecodable: 0 })
    expect((await objectsOf(made))[2].v).toBe(null)
    await same(made, rows)
  })
})

describe('H8: UUIDs as text and as bytes are the same sixteen bytes', () => {
  it('with bounds in unsigned order', async () => {
    const ids = ['00000000-0000-0000-0000-000000000001', 'ff000000-0000-0000-0000-000000000000']
    const text = ids.map((id) => ({ value: frame(1, Buffer.concat([zigzag(36n), Buffer.from(id)])) }))
    const made = await makeFile(text, one({ type: 'string', logicalType: 'uuid' }))
    const raw = ids.map((id) => ({ value: frame(1, Buffer.from(id.replaceAll('-', ''), 'hex')) }))
    const fixed = await makeFile(raw, one({ type: 'fixed', name: 'U', size: 16, logicalType: 'uuid' }))
    for (const file of [made, fixed]) {
      expect(Buffer.from(bound(file, 'lowerBounds')!).toString('hex')).toBe(ids[0].replaceAll('-', ''))
      expect(Buffer.from(bound(file, 'upperBounds')!).toString('hex')).toBe(ids[1].replaceAll('-', ''))
    }
    await same(made, text)
    await same(fixed, raw)
    const odd = ['FF000000-0000-0000-0000-000000000000', 'x'.repeat(36)].map((id) => ({
      value: frame(1, Buffer.concat([zigzag(36n), Buffer.from(id)])),
    }))
    const other = await makeFile(odd, one({ type: 'string', logicalType: 'uuid' }))
    expect(other.counts).toMatchObject({ exact: 0, raw: 2 })
    await same(other, odd)
  })
})

describe('I9: NaN, the zeros and infinities', () => {
  it('NaN is counted and no bound, zeros widen, every bit comes back', async () => {
    const patterns = ['000000000000f87f', '010000000000f07f', '0000000000000080', '0000000000000000', '000000000000f0ff']
    const rows = patterns.map((hex) => ({ value: frame(1, Buffer.from(hex, 'hex')) }))
    const made = await makeFile(rows, one({ type: 'double' }))
    expect(made.counts.exact).toBe(5)
    expect(made.stats.nanValueCounts.get(100)).toBe(2)
    expect(Buffer.from(bound(made, 'lowerBounds')!).readDoubleLE()).toBe(-Infinity)
    expect(Object.is(Buffer.from(bound(made, 'upperBounds')!).readDoubleLE(), 0)).toBe(true)
    await same(made, rows)
  })
})
