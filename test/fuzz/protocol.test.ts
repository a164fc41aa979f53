import { expect, test } from 'vitest'
import { requestHeader, responseHeader } from '../../protocol/headers.ts'
import { apis, decodeMessage, decodeRequest, decodeRequestHeader, encodeMessage, ProtocolError } from '../../protocol/index.ts'
import type { Api, ApiKey, Message } from '../../protocol/index.ts'
import { parseVersions } from '../../protocol/versions.ts'
import { fromKafkaJson, randomKafkaJson } from '../lib/kafkaJson.ts'
import { seeded } from '../lib/random.ts'
import type { Random } from '../lib/random.ts'

/**
 * Whatever the bytes: a message or a ProtocolError, nothing else, and no more memory than the frame can justify. Every run is the same; set
 * FUZZ_SEED and FUZZ_ROUNDS to look further.
 */
const SEED = Number(process.env['FUZZ_SEED'] ?? 1)
const ROUNDS = Number(process.env['FUZZ_ROUNDS'] ?? 40)

const messages: Message[] = [...Object.values<Api>(apis).flatMap((api) => [api.request, api.response]), requestHeader, responseHeader]
const versions = messages.flatMap((message) => {
  const { min, max } = parseVersions(message.validVersions)
  return Array.from({ length: max - min + 1 }, (_, i) => ({ message, version: min + i }))
})

/** Values that sit at the edges of lengths, counts and varints. */
const EDGES = [
  '00',
  '01',
  '7f',
  '80',
  'ff',
  'ffff',
  'ffffffff',
  '7fffffff',
  '80000000',
  '000f4241',
  'ffffffff0f',
  'ffffffff1f',
  '808080808000',
]

function mutate(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes)
  if (copy.length === 0) return Buffer.from([random.int(256)])
  const at = random.int(copy.length)
  switch (random.int(5)) {
    case 0:
      return copy.subarray(0, at)
    case 1:
      copy[at] ^= 1 << random.int(8)
      return copy
    case 2:
      Buffer.from(EDGES[random.int(EDGES.length)], 'hex').copy(copy, at)
      return copy
    case 3:
      return Buffer.concat([copy.subarray(0, at), Buffer.from(EDGES[random.int(EDGES.length)], 'hex'), copy.subarray(at)])
    default:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(at + 1 + random.int(4))])
  }
}

/** Runs a decoder: its result, or undefined for a ProtocolError. Anything else that is thrown fails the test with the bytes. */
function decodeOrRefuse<T>(decode: () => T, name: string, bytes: Buffer): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof ProtocolError) return undefined
    throw new Error(`${name} ${bytes.toString('hex', 0, 2000)}: ${String(error)}`, { cause: error })
  }
}

/** Decodes; what decodes must encode again, to bytes that decode to the same (names that are no UTF-8 come back replaced). */
function attempt(message: Message, version: number, bytes: Buffer): boolean {
  const decoded = decodeOrRefuse(() => decodeMessage(message, version, bytes), `${message.name} v${version}`, bytes)
  if (!decoded) return false
  expect(decoded.end).toBeLessThanOrEqual(bytes.length)
  const again = Buffer.concat(encodeMessage(message, version, decoded.value as never).chunks)
  expect(decodeMessage(message, version, again).value).toEqual(decoded.value)
  return true
}

test('mutated messages of every version', () => {
  const random = seeded(SEED)
  const counts = { decoded: 0, refused: 0 }
  for (const { message, version } of versions) {
    for (let round = 0; round < ROUNDS; round++) {
      const value = fromKafkaJson(message, version, randomKafkaJson(message, version, random))
      let bytes: Buffer = Buffer.concat(encodeMessage(message, version, value as never).chunks)
      expect(decodeMessage(message, version, bytes).value).toEqual(value)
      for (let i = 1 + random.int(3); i > 0; i--) bytes = mutate(bytes, random)
      counts[attempt(message, version, bytes) ? 'decoded' : 'refused']++
    }
  }
  expect(counts.decoded).toBeGreaterThan(versions.length)
  expect(counts.refused).toBeGreaterThan(versions.length)
})

test('random bytes for every version', () => {
  const random = seeded(SEED + 1)
  let decoded = 0
  for (const { message, version } of versions) {
    for (let round = 0; round < ROUNDS; round++) {
      const small = random.chance(0.5)
      const bytes = Buffer.from(Array.from({ length: random.int(300) }, () => (small ? random.int(4) : random.int(256))))
      if (attempt(message, version, bytes)) decoded++
    }
  }
  expect(decoded).toBeGreaterThan(versions.length)
})

test('random request frames', () => {
  const random = seeded(SEED + 2)
  let decoded = 0
  for (let round = 0; round < ROUNDS * 100; round++) {
    const frame = Buffer.from(Array.from({ length: random.int(60) }, () => random.int(random.chance(0.5) ? 3 : 256)))
    if (frame.length > 4 && random.chance(0.9)) frame.writeInt32BE((random.int(63) << 16) | random.int(14))
    const whole = (): unknown => {
      const { apiKey, apiVersion, bodyAt } = decodeRequestHeader(frame)
      return decodeRequest(apiKey as ApiKey, apiVersion, frame, bodyAt)
    }
    if (decodeOrRefuse(whole, 'frame', frame)) decoded++
  }
  expect(decoded).toBeGreaterThan(0)
})

/** A megabyte of one byte: the shapes in which counts claim the most for the bytes they take. */
test('memory stays within a multiple of the frame', () => {
  const size = 1 << 20
  for (const { message, version } of versions) {
    for (const fill of [0, 1, 2, 0x7f, 0xff]) {
      const bytes = Buffer.alloc(size, fill)
      const before = process.memoryUsage()
      decodeOrRefuse(() => decodeMessage(message, version, bytes), `${message.name} v${version}`, bytes.subarray(0, 10))
      const after = process.memoryUsage()
      expect(after.heapUsed - before.heapUsed, `${message.name} v${version} of ${fill}`).toBeLessThan(256 * size)
      expect(after.external - before.external).toBeLessThan(16 * size)
    }
  }
})
