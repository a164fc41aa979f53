import { expect, test } from 'vitest'
import { BatchBuilder } from '../../protocol/records/build.ts'
import { Errors } from '../../protocol/errors.ts'
import { checkBatch } from '../../protocol/records/validate.ts'
import { rules } from '../unit/records/help.ts'

// A8: max.message.bytes was a setting that nothing enforced. It counts the batch as sent: header in, compression done.

const value = Buffer.alloc(1024 * 1024, 'frazil ')

function batchOf(codec: number): Uint8Array {
  const builder = new BatchBuilder({ codec })
  builder.append(0, 1700000000000, null, 0, 0, value, 0, value.length)
  return builder.finish()
}

test('1 MiB on a topic of 50 KiB', () => {
  const limit = rules({ maxMessageBytes: 51200 })
  expect(checkBatch(batchOf(0), limit).error).toBe(Errors.MESSAGE_TOO_LARGE)
  expect(checkBatch(batchOf(4), limit).error).toBe(0) // a kilobyte of zstd
})

test('the limit itself is allowed, one byte less is not', () => {
  const batch = batchOf(0)
  expect(checkBatch(batch, rules({ maxMessageBytes: batch.length })).error).toBe(0)
  expect(checkBatch(batch, rules({ maxMessageBytes: batch.length - 1 })).error).toBe(Errors.MESSAGE_TOO_LARGE)
})

test('a batch over segment.bytes is a record list too large', () => {
  expect(checkBatch(batchOf(0), rules({ maxMessageBytes: 2 ** 31 - 1, segmentBytes: 51200 })).error).toBe(Errors.RECORD_LIST_TOO_LARGE)
})
