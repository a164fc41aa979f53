import { expect, test } from 'vitest'
import { BatchBuilder } from '../../protocol/records/build.ts'
import { Errors } from '../../protocol/errors.ts'
import { validateRecords } from '../../protocol/records/validate.ts'
import { clients, codecNames, recording } from '../unit/records/fixtureSets.ts'
import { rules } from '../unit/records/help.ts'

// A9: records without a key were taken on a compacted topic, where nothing could ever replace them.

test.each(clients.flatMap((client) => codecNames.map((codec) => [client, codec])))(
  '%s, %s: the keyless records are named, an empty key is one',
  (client, codec) => {
    const batch = recording(client, codec, 'edge')
    const outcome = validateRecords(batch, rules({ compacted: true }))
    expect(outcome.error).toBe(Errors.INVALID_RECORD)
    expect(outcome.recordErrors.map((record) => record.index)).toEqual([2, 3])
    expect(validateRecords(batch, rules()).error).toBe(0)
  },
)

test('a batch of many faults gives a short answer', () => {
  const builder = new BatchBuilder()
  for (let i = 0; i < 100000; i++) builder.append(i, 1700000000000, null, 0, 0, null, 0, 0)
  const outcome = validateRecords(builder.finish(), rules({ compacted: true }))
  expect(outcome.recordErrors.length).toBe(1000)
  expect(outcome.message).toContain('100000')
})
