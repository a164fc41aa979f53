import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkBatch, validateRecords } from '../../../protocol/records/validate.ts'
import { hostileCases, SMALL_MAX_BYTES, type HostileCase } from './hostileCases.ts'
import { rules } from './help.ts'

const answers = JSON.parse(readFileSync(new URL('../../fixtures/records/kafka-answers.json', import.meta.url), 'utf8')) as Record<
  string,
  { error: number; records?: number[] }
>

/** Where we answer otherwise, on purpose. */
const stricter: Record<string, number> = {
  'control, transactional': 87, // Kafka refuses the request before it looks: no transactional id is given
  'log append time bit': 32, // Kafka takes it and clears the bit; a batch is stored here as it came
  'offset delta 5': 87, // Kafka assigns offsets anew, uncompressed
  'offset delta -1': 87,
  'gzip offset delta 5': 87, // Kafka's rewriting fails here, with -1
  'key size -2': 87, // Kafka reads null; readers of the stored bytes may not
  'value size -2': 87,
  'header value size -2': 87,
  'record length of eleven bytes': 87, // an exception escapes in Kafka; compressed, it answers 87 too
}

function answer(given: HostileCase): { error: number; records: number[] } {
  const topic = rules({
    produceVersion: given.version,
    compacted: given.topic === 'compact',
    timestampType: given.topic === 'append' ? 1 : 0,
    maxMessageBytes: given.topic === 'small' ? SMALL_MAX_BYTES : 1048588,
  })
  const checked = checkBatch(given.records, topic)
  if (checked.error !== 0) return { error: checked.error, records: [] }
  const outcome = validateRecords(given.records, topic)
  if (outcome.error !== 0 && outcome.message === '') throw new Error('refused without a word')
  return { error: outcome.error, records: outcome.recordErrors.map((record) => record.index) }
}

describe('codes as Apache Kafka 4.4.0 gave them', () => {
  test.each(hostileCases.filter((given) => stricter[given.name] === undefined))('$name', (given) => {
    const expected = answers[given.name]
    expect(answer(given)).toEqual({ error: expected.error, records: expected.records ?? [] })
  })
})

describe('stricter than Kafka', () => {
  test.each(hostileCases.filter((given) => stricter[given.name] !== undefined))('$name', (given) => {
    expect(answers[given.name].error).not.toBe(stricter[given.name])
    expect(answer(given).error).toBe(stricter[given.name])
  })
})

test('a request without a records field is refused', () => {
  expect(checkBatch(null, rules()).error).toBe(87)
})
