import { afterAll, describe, expect, test } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { CODEC_GZIP, CODEC_NONE, CODEC_ZSTD, batchCrc, batchCrcValid, readBatchHeader } from '../../../protocol/records/header.ts'
import { setInt16, setInt32, setInt64 } from '../../../protocol/records/bytes.ts'
import { ProduceValidator, type TopicRules, type Validated } from '../../../src/log/validate.ts'
import type { TopicView } from '../../../src/metadata/view.ts'
import { batchBytes, ManualClock, type BatchSpec } from '../wal/harness.ts'

const clock = new ManualClock()
const rules: TopicRules = {
  maxMessageBytes: 1 << 24,
  segmentBytes: 1 << 30,
  messageTimestampType: 'CreateTime',
  timestampBeforeMaxMs: Infinity,
  timestampAfterMaxMs: 3_600_000,
  compact: false,
}
const validators: ProduceValidator[] = []

function validator(more: Partial<TopicRules> = {}, inflatedMaxBytes?: number): ProduceValidator {
  const made = new ProduceValidator({
    clock,
    rules: () => ({ ...rules, ...more }),
    workers: 1,
    ...(inflatedMaxBytes && { inflatedMaxBytes }),
  })
  validators.push(made)
  return made
}

afterAll(() => Promise.all(validators.map((one) => one.close())))

const topic = {} as TopicView

/** Values that do not compress, so that the batch is large. */
function large(spec: BatchSpec): Uint8Array {
  return batchBytes({ count: 20_000, valueBytes: 100, ...spec })
}

function resign(batch: Uint8Array): Uint8Array {
  setInt32(batch, 17, batchCrc(batch))
  return batch
}

describe.each([
  ['uncompressed', { codec: CODEC_NONE, count: 3 }],
  ['compressed, small', { codec: CODEC_ZSTD, count: 3 }],
])('%s: decided at once', (_, spec) => {
  test('a good batch is described and stays where it is', () => {
    const sent = batchBytes({ ...spec, producerId: 9, epoch: 2, sequence: 5 })
    const answer = validator().validate(topic, sent, 9) as Validated
    expect(answer.ready).toBeUndefined()
    expect(answer.batch).toMatchObject({
      offsetCount: 3,
      maxTimestampMs: 1002,
      producerId: 9,
      producerEpoch: 2,
      baseSequence: 5,
      appendTimeMs: -1,
    })
    expect(answer.batch.bytes.buffer).toBe(sent.buffer)
  })

  test('LogAppendTime is stamped before anything is uploaded', () => {
    const answer = validator({ messageTimestampType: 'LogAppendTime' }).validate(topic, batchBytes(spec), 9) as Validated
    expect(answer.batch).toMatchObject({ maxTimestampMs: clock.nowMs, appendTimeMs: clock.nowMs })
    const header = readBatchHeader(answer.batch.bytes)
    expect([header.maxTimestampMs, header.attributes & 8]).toEqual([clock.nowMs, 8])
    expect(batchCrcValid(answer.batch.bytes)).toBe(true)
  })

  test('a largest timestamp that is wrong is corrected', () => {
    const sent = batchBytes(spec)
    setInt64(sent, 35, 5)
    const answer = validator().validate(topic, resign(sent), 9) as Validated
    expect(answer.batch.maxTimestampMs).toBe(1002)
    expect(readBatchHeader(sent).maxTimestampMs).toBe(1002)
    expect(batchCrcValid(sent)).toBe(true)
  })

  test('records are judged one by one (KIP-467)', () => {
    const late = clock.nowMs + 4_000_000
    const answer = validator().validate(topic, batchBytes({ ...spec, timestampsMs: [1, late, 2] }), 9)
    expect(answer).toMatchObject({ error: Errors.INVALID_TIMESTAMP, recordErrors: [{ index: 1 }] })
    expect(validator({ compact: true }).validate(topic, batchBytes(spec), 9)).toMatchObject({
      error: Errors.INVALID_RECORD,
      recordErrors: [{ index: 0 }, { index: 1 }, { index: 2 }],
    })
  })
})

describe('large and compressed: decided in a worker', () => {
  test('a good batch', async () => {
    const sent = large({ codec: CODEC_ZSTD, timestampsMs: Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 100_003) })
    expect(sent.length).toBeGreaterThan(32 * 1024)
    setInt64(sent, 35, 5)
    const answer = validator().validate(topic, resign(sent), 9) as Validated
    expect(answer.batch.maxTimestampMs).toBe(5)
    expect((await answer.ready)!.error).toBe(0)
    // The bytes may be on their way already: only what will be said of them is corrected.
    expect(answer.batch.maxTimestampMs).toBe(Math.max(...Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 100_003)))
    expect(batchCrcValid(sent)).toBe(true)
  })

  test('small on the wire, large when inflated; over the limit it is refused', async () => {
    const sent = large({ codec: CODEC_GZIP })
    expect(sent.length).toBeLessThan(1 << 20)
    const good = validator().validate(topic, new Uint8Array(sent), 9) as Validated
    expect((await good.ready)!.error).toBe(0)
    const answer = validator({}, 1 << 20).validate(topic, sent, 9) as Validated
    expect((await answer.ready)!.error).toBe(Errors.MESSAGE_TOO_LARGE)
  })

  test('a refusal names records', async () => {
    const answer = validator({ compact: true }).validate(topic, large({ codec: CODEC_GZIP }), 9) as Validated
    const refusal = (await answer.ready)!
    expect(refusal.error).toBe(Errors.INVALID_RECORD)
    expect(refusal.recordErrors.length).toBe(1000)
  })

  test('LogAppendTime is stamped at once', async () => {
    const answer = validator({ messageTimestampType: 'LogAppendTime' }).validate(topic, large({ codec: CODEC_GZIP }), 9) as Validated
    expect(readBatchHeader(answer.batch.bytes).maxTimestampMs).toBe(clock.nowMs)
    expect((await answer.ready)!.error).toBe(0)
    expect(answer.batch.maxTimestampMs).toBe(clock.nowMs)
  })
})

test.each([
  ['no batch', (): Uint8Array | null => null, Errors.INVALID_RECORD],
  ['over max.message.bytes', () => batchBytes({ valueBytes: 1 << 25 }), Errors.MESSAGE_TOO_LARGE],
  ['a wrong CRC', () => batchBytes().fill(9, 70), Errors.CORRUPT_MESSAGE],
  [
    'a transactional batch of nobody',
    (): Uint8Array => {
      const batch = batchBytes({})
      setInt16(batch, 21, 0x10)
      return resign(batch)
    },
    Errors.INVALID_RECORD,
  ],
])('%s is refused', (_, make, error) => {
  expect(validator().validate(topic, make(), 9)).toMatchObject({ error })
})
