import { expect, test } from 'vitest'
import { BatchBuilder } from '../../protocol/records/build.ts'
import { clients, codecNames, recording } from '../unit/records/fixtureSets.ts'
import { readRecords } from '../unit/records/help.ts'

// A1: a writer gave a null value as empty bytes, and its own reader undid it; other clients saw broken tombstones.
// So the bytes here are those of foreign clients, and what we write is held against them.

const shape = (bytes: Buffer | null): string => (bytes === null ? 'null' : bytes.length === 0 ? 'empty' : 'bytes')
const combinations = ['bytes null', 'bytes empty', 'null bytes', 'null null', 'empty empty']

test.each(clients.flatMap((client) => codecNames.map((codec) => [client, codec])))(
  '%s, %s: null stays null, empty stays empty',
  (client, codec) => {
    const records = readRecords(recording(client, codec, 'edge'))
    expect(records.slice(0, 5).map((record) => `${shape(record.k)} ${shape(record.v)}`)).toEqual(combinations)
    expect(records[5].h.map(([name, value]) => `${name} ${shape(value)}`)).toEqual(['a bytes', 'a bytes', 'b null', 'c empty'])
  },
)

test('a built batch keeps all four apart, in the bytes of a foreign client', () => {
  const builder = new BatchBuilder()
  const records = readRecords(recording('java', 'none', 'edge')).slice(0, 5)
  for (const { offset, t, k, v } of records) builder.append(offset, t, k, 0, k?.length ?? 0, v, 0, v?.length ?? 0)
  const built = builder.finish()
  expect(readRecords(built).map((record) => `${shape(record.k)} ${shape(record.v)}`)).toEqual(combinations)
  const foreign = recording('java', 'none', 'edge').subarray(61)
  expect(Buffer.from(built.subarray(61)).equals(foreign.subarray(0, built.length - 61))).toBe(true)
})
