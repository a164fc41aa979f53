import { expect, test } from 'vitest'
import {
  decodeHeader,
  decodeIndex,
  decodeTail,
  encodeFooter,
  encodeHeader,
  parseWalKey,
  TAIL_BYTES,
  walKey,
  type IndexPart,
} from '../../../src/wal/format.ts'

const hex = (spaced: string): string => spaced.replaceAll(' ', '')

const part: IndexPart = {
  topicId: '00112233-4455-6677-8899-aabbccddeeff',
  topic: 3,
  partition: 7,
  byteOffset: 24,
  sizesBytes: [70, 80],
  offsetCounts: [1, 0x7fffffff],
}

test('golden bytes (docs/FORMATS.md, WAL objects): what is on disk never changes', () => {
  expect(encodeHeader(5, 9).toString('hex')).toBe(hex('46525a57 0001 0000 0000000000000005 0000000000000009'))
  const index = '00000001 00112233445566778899aabbccddeeff 00000003 00000007 0000000000000018 00000002 0000004600000001 000000507fffffff'
  const tail = '00000000000000ae 00000038 62bba853 46525a49'
  expect(encodeFooter(174, [part]).toString('hex')).toBe(hex(index + tail))
})

test('index and tail come back', () => {
  const parts = [part, { ...part, topic: 4, partition: 0, byteOffset: 2 ** 33, sizesBytes: [61], offsetCounts: [4] }]
  const footer = encodeFooter(1000, parts)
  const tail = decodeTail(footer, 1000 + footer.length)
  expect(tail.indexStart).toBe(1000)
  expect(decodeIndex(footer.subarray(0, footer.length - TAIL_BYTES), tail.crc)).toEqual(parts)
})

test('damage is named', () => {
  const footer = encodeFooter(1000, [part])
  expect(() => decodeTail(footer, 999 + footer.length)).toThrow(/does not lie where/)
  expect(() => decodeTail(Buffer.alloc(30), 30)).toThrow(/no index/)
  const index = footer.subarray(0, footer.length - TAIL_BYTES)
  const { crc } = decodeTail(footer, 1000 + footer.length)
  for (let at = 0; at < index.length; at++) {
    const damaged = Buffer.from(index)
    damaged[at] ^= 1
    expect(() => decodeIndex(damaged, crc)).toThrow(/checksum/)
  }
  expect(() => decodeHeader(Buffer.alloc(24))).toThrow(/no WAL object/)
  const newer = encodeHeader(1, 1)
  newer[5] = 2
  expect(() => decodeHeader(newer)).toThrow(/version 2/)
})

test('keys sort by incarnation and sequence and come apart again', () => {
  expect(walKey(0, 12, 345)).toBe('wal/0/0000000012/000000000345.wal')
  expect(parseWalKey('wal/0/0000000012/000000000345.wal')).toEqual({ timeline: 0, incarnation: 12, walSequence: 345 })
  expect(['wal/0/12/345.wal', 'wal/0/0000000012/000000000345.tmp', 'tables/x'].map(parseWalKey)).toEqual([null, null, null])
})
