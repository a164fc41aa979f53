import { expect, test } from 'vitest'
import { decompressPayload } from '../../protocol/records/codecs.ts'
import { CODEC_SNAPPY } from '../../protocol/records/header.ts'
import { clients, recording, sets } from '../unit/records/fixtureSets.ts'
import { readRecords } from '../unit/records/help.ts'

// A2: snappy comes in two shapes, framed by snappy-java and as one raw block; a decoder that handles one loses the other.

test('one partition with batches of every client', () => {
  const partition = Buffer.concat(clients.flatMap((client) => [recording(client, 'snappy', 'many'), recording(client, 'snappy', 'big')]))
  const values = readRecords(partition).map((record) => record.v)
  const expected = [...sets.many, ...sets.big].map((record) => record.v)
  expect(values).toEqual([...expected, ...expected, ...expected])
})

test('framed streams joined end to end are one payload', () => {
  const framed = recording('java', 'snappy', 'big').subarray(61)
  const once = Buffer.from(decompressPayload(CODEC_SNAPPY, framed, 1e7))
  const twice = decompressPayload(CODEC_SNAPPY, Buffer.concat([framed, framed]), 1e7)
  expect(Buffer.concat([once, once]).equals(twice)).toBe(true)
})
