import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { requestHeader, responseHeader } from '../../../protocol/headers.ts'
import { apis, decodeMessage, encodeMessage, errorName, Errors, servedVersions } from '../../../protocol/index.ts'
import type { Api, Message } from '../../../protocol/index.ts'
import { fromKafkaJson } from '../../lib/kafkaJson.ts'
import type { Json } from '../../lib/kafkaJson.ts'

/** Values and the bytes that Kafka 4.4's own codec gives them: test/compat/protocol-fixtures/record-oracle.ts. */
const fixtures = new URL('../../fixtures/protocol/', import.meta.url)
const cases = readFileSync(new URL('kafka-oracle.jsonl', fixtures), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { message: string; version: number; value: Json; hex: string })

const messages = new Map<string, Message>([requestHeader, responseHeader].map((message) => [message.name, message]))
for (const api of Object.values<Api>(apis)) {
  messages.set(api.request.name, api.request)
  messages.set(api.response.name, api.response)
}

describe('bytes of Kafka 4.4 itself', () => {
  test('there are cases for every message in every version', () => {
    const seen = new Set(cases.map(({ message, version }) => `${message} ${version}`))
    for (const api of Object.values<Api>(apis)) {
      for (let version = servedVersions(api.key).min; version <= servedVersions(api.key).max; version++) {
        expect(seen).toContain(`${api.request.name} ${version}`)
        expect(seen).toContain(`${api.response.name} ${version}`)
      }
    }
  })

  test.each([...messages.keys()])('%s', (name) => {
    const message = messages.get(name) as Message
    const own = cases.filter((one) => one.message === name)
    expect(own.length).toBeGreaterThan(0)
    for (const { version, value, hex } of own) {
      const bytes = Buffer.from(hex, 'hex')
      const expected = fromKafkaJson(message, version, value)
      const decoded = decodeMessage(message, version, bytes)
      expect(decoded.value, `v${version}`).toEqual(expected)
      expect(decoded.end).toBe(bytes.length)
      expect(Buffer.concat(encodeMessage(message, version, expected as never).chunks).toString('hex'), `v${version}`).toBe(hex)
    }
  })
})

test('the error codes are those of Kafka 4.4', () => {
  const kafka = JSON.parse(readFileSync(new URL('errors.json', fixtures), 'utf8')) as Record<string, number>
  expect({ ...Errors }).toEqual(kafka)
  for (const [name, code] of Object.entries(kafka)) expect(errorName(code)).toBe(name)
  expect(errorName(-2)).toBe('ERROR_-2')
})
