/**
 * Writes test/fixtures/protocol/kafka-oracle.jsonl: random values of every message in every version with the bytes that Kafka's own codec
 * gives them (KafkaOracle.java), and test/fixtures/protocol/errors.json, Kafka's error codes.
 *
 * usage: node test/compat/protocol-fixtures/record-oracle.ts CLASSPATH     (kafka-clients 4.4.0 and jackson-databind with what it needs)
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { requestHeader, responseHeader } from '../../../protocol/headers.ts'
import { apis } from '../../../protocol/registry.ts'
import type { Api, Message } from '../../../protocol/schema.ts'
import { parseVersions } from '../../../protocol/versions.ts'
import { randomKafkaJson } from '../../lib/kafkaJson.ts'
import { seeded } from '../../lib/random.ts'

const SAMPLES_PER_VERSION = 2
const fixtures = new URL('../../fixtures/protocol/', import.meta.url)

const classPath = process.argv[2]
if (!classPath) {
  console.error('usage: node test/compat/protocol-fixtures/record-oracle.ts CLASSPATH')
  process.exit(2)
}

const messages: Message[] = Object.values<Api>(apis).flatMap((api) => [api.request, api.response])
messages.push(requestHeader, responseHeader)
/** Of each message its own, so that a new definition changes no other line. */
const seedOf = (name: string): number => Array.from(name).reduce((seed, letter) => Math.imul(seed, 31) + letter.charCodeAt(0), 44)
const cases = messages.flatMap((message) => {
  const random = seeded(seedOf(message.name))
  const { min, max } = parseVersions(message.validVersions)
  return Array.from({ length: (max - min + 1) * SAMPLES_PER_VERSION }, (_, i) => {
    const version = min + Math.floor(i / SAMPLES_PER_VERSION)
    return { message: message.name, version, value: randomKafkaJson(message, version, random) }
  })
})

const input = ['errors', ...cases.map(({ message, version, value }) => `${message}\t${version}\t${JSON.stringify(value)}`)]
const java = ['-cp', classPath, new URL('KafkaOracle.java', import.meta.url).pathname]
const { status, stdout, stderr } = spawnSync('java', java, { input: input.join('\n') + '\n', encoding: 'utf8', maxBuffer: 1 << 28 })
if (status !== 0) throw new Error(`java failed: ${stderr}`)
const [errors, ...hex] = stdout.trimEnd().split('\n')
if (hex.length !== cases.length) throw new Error(`${cases.length} cases, ${hex.length} answers`)

writeFileSync(new URL('errors.json', fixtures), JSON.stringify(JSON.parse(errors), null, 2) + '\n')
const lines = cases.map((one, i) => JSON.stringify({ ...one, hex: hex[i] }))
writeFileSync(new URL('kafka-oracle.jsonl', fixtures), lines.join('\n') + '\n')
console.log(`${lines.length} messages`)
