import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/base/random.ts'
import {
  countZeroSectors,
  decodeHeader,
  decodeSegmentHead,
  encodeHeader,
  encodeSegmentHead,
  isOtherVersion,
  isZero,
} from '../../../src/metadata/logs/frame.ts'

describe('folder log: format', () => {
  it('writes these bytes for ever (docs/FORMATS.md)', () => {
    const id = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
    const head = encodeSegmentHead(id)
    expect(head.subarray(0, 32).toString('hex')).toBe('4652415a4c4f47315285421200000000000102030405060708090a0b0c0d0e0f')
    expect(isZero(head, 32, 512)).toBe(true)
    const seed = decodeSegmentHead(head)!
    expect(seed).toBe(0xd9c908eb)
    const header = {
      number: 2 ** 40 + 5,
      entryBytes: 300,
      attachmentBytes: 70_000,
      entryCrc: 0xdeadbeef,
      attachmentCrc: 0x12345678,
      zeroSectors: 3,
    }
    const bytes = encodeHeader(header, 1024, seed)
    expect(bytes.toString('hex')).toBe(
      '465a4531' +
        '804b4dfa' +
        '0000010000000005' +
        '0000012c' +
        '00011170' +
        'deadbeef' +
        '12345678' +
        '00000003' +
        '00000400' +
        '00'.repeat(24),
    )
    expect(decodeHeader(bytes, 0, 1024, seed)).toEqual(header)
    expect(decodeHeader(bytes, 0, 1088, seed)).toBeNull()
    expect(decodeHeader(bytes, 0, 1024, seed ^ 1)).toBeNull()
    for (let bit = 0; bit < 64 * 8; bit++) {
      const damaged = Buffer.from(bytes)
      damaged[bit >> 3] ^= 1 << (bit & 7)
      expect(decodeHeader(damaged, 0, 1024, seed)).toBeNull()
    }
    expect([isOtherVersion(head), isOtherVersion(Buffer.from('FRAZLOG2'))]).toEqual([false, true])
    head[40] = 1
    expect(decodeSegmentHead(head)).toBeNull()
  })

  it('counts blank sectors the same however the bytes are split', () => {
    const random = seededRandom(8)
    for (let round = 0; round < 300; round++) {
      const bytes = Buffer.alloc(Math.floor(random() * 5000))
      for (let sector = 0; sector < bytes.length; sector += 256) {
        if (random() < 0.4) bytes[Math.min(bytes.length - 1, sector + Math.floor(random() * 256))] = 1
      }
      const position = Math.floor(random() * 40) * 64
      let wanted = 0
      let from = 0
      while (from < bytes.length) {
        const to = Math.min(bytes.length, from + 512 - ((position + from) % 512))
        // The first piece shares its sector with the header, unless it begins one.
        if ((from > 0 || position % 512 === 0) && bytes.subarray(from, to).every((byte) => byte === 0)) wanted++
        from = to
      }
      const parts: Buffer[] = []
      for (let at = 0; at < bytes.length;) {
        const length = Math.floor(random() * random() * 2000)
        parts.push(bytes.subarray(at, at + length))
        at += length
      }
      expect(countZeroSectors(parts, position)).toBe(wanted)
      expect(countZeroSectors([bytes], position)).toBe(wanted)
    }
  })
})
