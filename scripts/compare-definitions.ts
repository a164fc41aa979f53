/**
 * Compares every message definition of protocol/ with Kafka's own, from the kafka-clients jar: API keys, valid and flexible versions, and
 * field by field, version by version, types, order, nullability, tags, defaults and ignorable. Prints the differences; exits 1 if there are any.
 *
 * usage: node scripts/compare-definitions.ts      (fetches the jar by Maven when it is absent; see kafka/jar.ts)
 */
import { requestHeader, responseHeader } from '../protocol/headers.ts'
import { apis } from '../protocol/registry.ts'
import type { Api, Message } from '../protocol/schema.ts'
import { differences, parseKafkaMessage, toMessage } from './kafka/definitions.ts'
import type { KafkaMessage } from './kafka/definitions.ts'
import { KAFKA_VERSION, kafkaClientsJar, zipTexts } from './kafka/jar.ts'

const texts = zipTexts(kafkaClientsJar(), /^common\/message\/\w+\.json$/)
const found: string[] = []
let compared = 0

function kafkaMessage(name: string): KafkaMessage | undefined {
  const text = texts.get(`${name}.json`)
  if (text === undefined) found.push(`${name}: Kafka has no such message`)
  return text === undefined ? undefined : parseKafkaMessage(text)
}

function compare(ours: Message): KafkaMessage | undefined {
  const kafka = kafkaMessage(ours.name)
  if (kafka) found.push(...differences(ours, toMessage(kafka)))
  compared++
  return kafka
}

for (const [key, api] of Object.entries<Api>(apis)) {
  for (const message of [api.request, api.response]) {
    const kafka = compare(message)
    if (!kafka) continue
    if (kafka.apiKey !== api.key || Number(key) !== api.key) found.push(`${message.name}: API key ${api.key}, Kafka ${kafka.apiKey}`)
    if (message === api.request && (kafka.latestVersionUnstable ?? false) !== (api.latestVersionUnstable ?? false)) {
      found.push(`${message.name}: latestVersionUnstable ${api.latestVersionUnstable}, Kafka ${kafka.latestVersionUnstable}`)
    }
  }
  if (api.request.name !== `${api.name}Request` || api.response.name !== `${api.name}Response`)
    found.push(`${api.name}: names do not match`)
}
compare(requestHeader)
compare(responseHeader)

for (const text of found) console.error(text)
console.log(`${compared} message definitions compared with Kafka ${KAFKA_VERSION}: ${found.length} differences`)
process.exitCode = found.length === 0 ? 0 : 1
