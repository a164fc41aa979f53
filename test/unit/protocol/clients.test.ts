import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  advertisedVersions,
  apiOf,
  apis,
  decodeMessage,
  decodeRequestHeader,
  decodeResponse,
  decodeResponseHeader,
  encodeRequestFrame,
  encodeResponseFrame,
} from '../../../protocol/index.ts'
import type { ApiKey } from '../../../protocol/index.ts'

/** What foreign clients and a real Kafka 4.4 said to each other: test/compat/protocol-fixtures/record-clients.ts. */
interface Exchange {
  api: string
  key: ApiKey
  version: number
  request: string
  response: string | null
}

const folder = new URL('../../fixtures/protocol/clients/', import.meta.url)

function exchangesOf(file: string): Exchange[] {
  const lines = readFileSync(new URL(file, folder), 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Exchange)
}

test('what we advertise is what Kafka 4.4 advertised to its own client', () => {
  const answers = exchangesOf('java-4.4.0.jsonl').filter(({ api, version }) => api === 'ApiVersions' && version === 5)
  expect(answers.length).toBeGreaterThan(0)
  for (const { response } of answers) {
    const { apiKeys, errorCode } = decodeResponse(18, 5, Buffer.from(response as string, 'hex'), 4)
    expect(errorCode).toBe(0)
    const kafka = new Map(apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]))
    for (const key of Object.keys(apis).map(Number)) expect(advertisedVersions(key), `key ${key}`).toEqual(kafka.get(key))
  }
})

/** The frame without its size, as hex. */
function hexOf(encoded: { chunks: Uint8Array[] }): string {
  return Buffer.concat(encoded.chunks).subarray(4).toString('hex')
}

describe.each(readdirSync(folder))('%s', (file) => {
  const exchanges = exchangesOf(file)

  test('holds produce, fetch and group exchanges', () => {
    const names = new Set(exchanges.map(({ api }) => api))
    for (const name of ['Produce', 'Fetch', 'Metadata', 'ApiVersions', 'JoinGroup', 'SyncGroup', 'OffsetCommit'])
      expect(names).toContain(name)
  })

  test.each(exchanges)('$api v$version request', ({ api, key, version, request }) => {
    expect(apiOf(key).name).toBe(api)
    const bytes = Buffer.from(request, 'hex')
    const { bodyAt, correlationId, clientId, apiKey, apiVersion } = decodeRequestHeader(bytes)
    expect([apiKey, apiVersion]).toEqual([key, version])
    const { value, end } = decodeMessage(apiOf(key).request, version, bytes, bodyAt)
    expect(end).toBe(bytes.length)
    expect(hexOf(encodeRequestFrame({ apiKey: key, apiVersion, correlationId, clientId }, value as never))).toBe(request)
  })

  test.each(exchanges.filter(({ response }) => response !== null))('$api v$version response', ({ key, version, request, response }) => {
    const bytes = Buffer.from(response as string, 'hex')
    const { correlationId, bodyAt } = decodeResponseHeader(key, version, bytes)
    expect(correlationId).toBe(decodeRequestHeader(Buffer.from(request, 'hex')).correlationId)
    const { value, end } = decodeMessage(apiOf(key).response, version, bytes, bodyAt)
    expect(end).toBe(bytes.length)
    expect(hexOf(encodeResponseFrame(key, version, correlationId, value as never))).toBe(response)
  })

  test('only Produce with acks 0 goes unanswered', () => {
    for (const { key, version, request } of exchanges.filter(({ response }) => response === null)) {
      const bytes = Buffer.from(request, 'hex')
      expect(decodeMessage(apiOf(key).request, version, bytes, decodeRequestHeader(bytes).bodyAt).value).toMatchObject({ acks: 0 })
    }
  })
})
