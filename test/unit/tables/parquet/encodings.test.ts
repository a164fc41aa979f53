import { describe, expect, test } from 'vitest'
import { compareBytes, icebergBounds, int64Bytes, parquetBounds, widen, type BytesRange } from '../../../../src/tables/parquet/bounds.ts'
import { decodeDelta } from '../../../../src/tables/parquet/deltaDecode.ts'
import { deltaRoom, encodeDelta } from '../../../../src/tables/parquet/deltaEncode.ts'
import { bitWidthOf, decodeRle, encodeRle, rleRoom } from '../../../../src/tables/parquet/rle.ts'
import { ThriftReader } from '../../../../src/tables/parquet/thriftRead.ts'
import { T, ThriftWriter } from '../../../../src/tables/parquet/thriftWrite.ts'
import { generator } from '../records.ts'

/** 'decoded', or the code of the error. */
function outcome(decode: () => unknown): string {
  try {
    decode()
    return 'decoded'
  } catch (error) {
    return String((error as { code?: string }).code)
  }
}

describe('DELTA_BINARY_PACKED', () => {
  const encode = (values: number[], scale: number): Buffer => {
    const out = Buffer.alloc(deltaRoom(values.length))
    return out.subarray(0, encodeDelta(Float64Array.from(values), values.length, scale, out, 0))
  }
  const decode = (bytes: Buffer, count: number, scale: number): number[] => {
    const into = new Float64Array(count)
    const state = { at: 0 }
    decodeDelta(bytes, state, bytes.length, into, count, scale)
    expect(state.at).toBe(bytes.length)
    return [...into]
  }

  test('the bytes are those of the specification', () => {
    // Encodings.md, delta encoding, example 1: 1, 2, 3, 4, 5 (block 128, 4 mini-blocks, 5 values, first 1; least delta 1).
    expect(encode([1, 2, 3, 4, 5], 1).toString('hex')).toBe('80010405020200000000')
  })

  const random = generator(5)
  const cases: Record<string, number[]> = {
    none: [],
    one: [-7],
    constant: Array.from({ length: 300 }, () => 12),
    'rising by one': Array.from({ length: 1000 }, (_, i) => 9_000_000_000 + i),
    'small steps': Array.from({ length: 500 }, () => random.int(1000) - 500),
    '33 bits': Array.from({ length: 200 }, (_, i) => (i % 2) * 2 ** 33 - i),
    '52 bits': Array.from({ length: 200 }, (_, i) => (i % 3) * 2 ** 51 - i * 12345),
    'the ends of exactness': [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER, -1, 5],
    'a mini-block and one': Array.from({ length: 34 }, (_, i) => i * i),
    'a block and one': Array.from({ length: 130 }, (_, i) => 5 - i * i * i),
  }
  test.each(Object.entries(cases))('%s', (_name, values) => {
    for (let cut = values.length; cut >= Math.max(0, values.length - 40); cut--) {
      const some = values.slice(0, cut)
      expect(decode(encode(some, 1), cut, 1)).toEqual(some)
    }
  })

  test('milliseconds become microseconds and come back, to the ends of what a record may have', () => {
    const values = [-1, 0, 1790000000000, 9_007_199_254_740, -9_007_199_254_740, 1, 1790000000001]
    expect(decode(encode(values, 1000), values.length, 1000)).toEqual(values)
  })

  test('damage is CORRUPT, never a crash or a wrong length', () => {
    const bytes = encode(cases['small steps'], 1)
    for (let i = 0; i < 2000; i++) {
      const damaged = Buffer.from(bytes.subarray(0, random.int(3) === 0 ? random.int(bytes.length) : bytes.length))
      if (damaged.length > 0) damaged[random.int(damaged.length)] = random.int(256)
      expect(outcome(() => decodeDelta(damaged, { at: 0 }, damaged.length, new Float64Array(500), 500, 1))).toMatch(/^(decoded|CORRUPT)$/)
    }
  })
})

describe('RLE / bit-packed hybrid', () => {
  test('any mix of runs comes back', () => {
    const random = generator(8)
    for (let turn = 0; turn < 300; turn++) {
      const bitWidth = 1 + random.int(13)
      const values: number[] = []
      while (values.length < 1 + random.int(400)) {
        const value = random.int(2 ** bitWidth)
        for (let run = random.int(3) === 0 ? 1 + random.int(60) : 1; run > 0; run--) values.push(value)
      }
      const out = Buffer.alloc(rleRoom(values.length, bitWidth))
      const end = encodeRle(Uint16Array.from(values), values.length, bitWidth, out, 0)
      const into = new Int32Array(values.length)
      expect(decodeRle(out, 0, end, bitWidth, into, values.length)).toBe(end)
      expect([...into]).toEqual(values)
    }
  })

  test('long runs take a few bytes', () => {
    const out = Buffer.alloc(rleRoom(20_000, 1))
    expect(encodeRle(new Uint8Array(20_000).fill(1), 20_000, 1, out, 0)).toBe(4)
    expect([0, 1, 2, 3, 4, 255, 256].map(bitWidthOf)).toEqual([0, 1, 2, 2, 3, 8, 9])
  })

  test('damage is CORRUPT', () => {
    const random = generator(4)
    for (let i = 0; i < 2000; i++) {
      const bytes = random.bytes(random.int(20))
      expect(outcome(() => decodeRle(bytes, 0, bytes.length, 1 + random.int(16), new Int32Array(100), 100))).toMatch(/^(decoded|CORRUPT)$/)
    }
  })
})

describe('bounds', () => {
  const range = (min: Buffer, max = min): BytesRange => ({
    min: min.subarray(0, 64),
    minCut: min.length > 64,
    max: max.subarray(0, 64),
    maxCut: max.length > 64,
  })
  const text = (value: string) => icebergBounds(range(Buffer.from(value)), true)

  test('short strings are their own bounds', () => {
    expect(text('')).toEqual({ lower: Buffer.alloc(0), upper: Buffer.alloc(0) })
    expect(text('0123456789abcdef')).toEqual({ lower: Buffer.from('0123456789abcdef'), upper: Buffer.from('0123456789abcdef') })
  })

  test('long ones are cut after 16 code points and the upper one is raised', () => {
    expect(text('0123456789abcdefg')).toEqual({ lower: Buffer.from('0123456789abcdef'), upper: Buffer.from('0123456789abcdeg') })
    const ice = '冰'.repeat(20)
    expect(text(ice).lower.toString()).toBe('冰'.repeat(16))
    expect(text(ice).upper!.toString()).toBe('冰'.repeat(15) + '冱')
  })

  test('raising steps over surrogates, over the last code point, and gives up when nothing is above', () => {
    expect(text(`${'a'.repeat(15)}\ud7ffz`).upper!.toString()).toBe('a'.repeat(15) + '\ue000')
    expect(text(`ab${'\u{10ffff}'.repeat(20)}`).upper!.toString()).toBe('ac')
    expect(text('\u{10ffff}'.repeat(20)).upper).toBeUndefined()
    expect(icebergBounds(range(Buffer.alloc(20, 0xff)), false).upper).toBeUndefined()
    expect(icebergBounds(range(Buffer.from([1, ...Array<number>(20).fill(0xff)])), false).upper).toEqual(Buffer.from([2]))
  })

  test('a bound is never cut inside a code point, also where only a prefix is kept', () => {
    for (const value of ['x' + '冰'.repeat(40), 'xx' + '\u{1f9ca}'.repeat(40), 'xyz' + 'ü'.repeat(80)]) {
      const { min, max } = parquetBounds(range(Buffer.from(value)), true)
      expect(Buffer.from(value).subarray(0, min.length)).toEqual(min)
      expect(min.toString()).not.toContain('\ufffd')
      expect(max!.toString()).not.toContain('\ufffd')
      expect(compareBytes(max!, Buffer.from(value))).toBeGreaterThan(0)
    }
  })

  test('every value lies within the bounds of all', () => {
    const random = generator(31)
    for (let turn = 0; turn < 300; turn++) {
      const isText = turn % 2 === 0
      const values = Array.from({ length: 1 + random.int(20) }, () =>
        isText
          ? Buffer.from(Array.from({ length: random.int(40) }, () => random.pick(['a', 'ü', '冰', '\u{10ffff}', '\ud7ff', '\0'])).join(''))
          : Buffer.from(random.bytes(random.int(90)).map((byte) => (byte > 128 ? 255 : byte))),
      )
      let all: BytesRange | null = null
      for (const value of values) all = widen(all, range(value))
      const iceberg = icebergBounds(all!, isText)
      const parquet = parquetBounds(all!, isText)
      for (const value of values) {
        for (const [low, high] of [
          [iceberg.lower, iceberg.upper],
          [parquet.min, parquet.max],
        ]) {
          expect(compareBytes(low!, value)).toBeLessThanOrEqual(0)
          expect(high === undefined || compareBytes(high, value) >= 0).toBe(true)
        }
      }
    }
  })

  test('int64 bounds are little-endian to the ends of the type', () => {
    expect(int64Bytes(1790000000000, 1000).readBigInt64LE()).toBe(1790000000000000n)
    expect(int64Bytes(-1, 1).toString('hex')).toBe('ffffffffffffffff')
  })
})

describe('Thrift', () => {
  test('numbers, lists and nested structs come back; unknown fields are skipped', () => {
    const out = new ThriftWriter()
    out.begin()
    out.i32(1, -5)
    out.i64(3, 2 ** 51)
    out.binary(40, 'far away')
    out.list(41, T.i32, 20)
    for (let i = 0; i < 20; i++) out.elementInt(i - 10)
    out.struct(42)
    out.bool(1, true)
    out.bool(2, false)
    out.end()
    out.i32(43, 9)
    out.end()
    const bytes = out.take()
    const seen: unknown[] = []
    const reader = new ThriftReader(bytes)
    reader.struct((field, type) => {
      if (field === 1 || field === 3 || field === 43) seen.push(reader.int())
      else if (field === 40) seen.push(reader.string())
      else {
        seen.push([field, type])
        return false
      }
      return true
    })
    expect(seen).toEqual([-5, 2 ** 51, 'far away', [41, T.list], [42, T.struct], 9])
    expect(reader.at).toBe(bytes.length)
  })
})
