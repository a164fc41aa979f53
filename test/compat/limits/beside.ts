// Sends every hostile case to each port given and prints what comes back beside what is expected: for a look at Apache Kafka.
// usage: node test/compat/limits/beside.ts PORT [PORT …]
import { decodeResponse, decodeResponseHeader, type ApiKey } from '../../../protocol/index.ts'
import { createTopic, RawClient } from './client.ts'
import { hostileCases, type HostileCase, type Outcome } from './hostileCases.ts'

/** Sends one case on a connection of its own. */
export async function outcomeOf(port: number, one: HostileCase, waitMs: number): Promise<Outcome> {
  const client = await RawClient.open(port)
  client.write(one.bytes)
  const frame = await client.answer(waitMs)
  await client.destroy()
  if (frame === null) return 'closed'
  if (frame === 'silence') return 'silence'
  if (one.decode === undefined) return 'answer'
  const { key, version } = one.decode
  const at = decodeResponseHeader(key, version, frame).bodyAt
  const answer = decodeResponse(key as ApiKey, version, frame, at) as never as {
    readonly responses?: readonly { readonly partitionResponses: readonly { readonly errorCode: number }[] }[]
    readonly topics?: readonly { readonly errorCode: number }[]
  }
  return (answer.responses?.[0].partitionResponses[0] ?? answer.topics![0]).errorCode
}

if (process.argv[1] === import.meta.filename) {
  const topic = 'hostile'
  const ports = process.argv.slice(2).map(Number)
  for (const port of ports) {
    const client = await RawClient.open(port)
    await createTopic(client, topic, 1).catch(() => undefined) // a second run finds it there
    await client.destroy()
  }
  for (const one of hostileCases(topic)) {
    const waitMs = one.kafka === 'silence' ? 500 : 20_000
    const seen: Outcome[] = []
    for (const port of ports) seen.push(await outcomeOf(port, one, waitMs))
    const odd = seen.some((outcome, i) => outcome !== (i === 0 ? one.kafka : (one.here ?? one.kafka)))
    console.log(
      `${odd ? '!!' : '  '} ${one.name}: ${seen.join(' | ')} (expected ${one.kafka}${one.here === undefined ? '' : ` / ${one.here}`})`,
    )
  }
}
