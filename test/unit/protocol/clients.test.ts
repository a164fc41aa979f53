import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  apiOf,
  decodeMessage,
  decodeRequestHeader,
  decodeResponseHeader,
  encodeRequestFrame,
  encodeResponseFrame,
  servedVersions,
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

  test.each(exchanges)('$api v$version', ({ api, key, version, request, response }) => {
    expect(apiOf(key).name).toBe(api)
    expect(servedVersions(key).max).toBeGreaterThanOrEqual(version)
    const bytes = Buffer.from(request, 'hex')
    const { bodyAt, correlationId, clientId, apiKey, apiVersion } = decodeRequestHeader(bytes)
    expect([apiKey, apiVersion]).toEqual([key, version])
    expect(clientId).not.toBe('')
    const decoded = decodeMessage(apiOf(key).request, version, bytes, bodyAt)
    expect(decoded.end).toBe(bytes.length)
    expect(hexOf(encodeRequestFrame({ apiKey: key, apiVersion, correlationId, clientId }, decoded.value as never))).toBe(request)

    const answer = Buffer.from(response ?? '', 'hex')
    if (answer.length === 0) return expect(decoded.value, 'only acks 0 goes unanswered').toMatchObject({ acks: 0 })
    const header = decodeResponseHeader(key, version, answer)
    const answered = decodeMessage(apiOf(key).response, version, answer, header.bodyAt)
    expect(answered.end).toBe(answer.length)
    expect(header.correlationId).toBe(correlationId)
    expect(hexOf(encodeResponseFrame(key, version, correlationId, answered.value as never))).toBe(response)
  })
})
