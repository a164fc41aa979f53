// Foreign registry clients and serdes against Frazil's registry and topics: confluent-kafka (Python: Avro, JSON Schema,
// Protobuf, ids in prefix and header), a Java Avro serde, and kafkajs with its registry client. Each registers, produces
// and consumes.
// usage: node test/compat/schemas/run.ts [--records 100] [--only REGEX]
import { execFile, execFileSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../../lib/broker.ts'

const { values: flags } = parseArgs({ options: { records: { type: 'string', default: '100' }, only: { type: 'string', default: '.' } } })
const here = dirname(fileURLToPath(import.meta.url))
const only = new RegExp(flags.only)
const run = promisify(execFile)

function shell(line: string): string {
  return execFileSync('bash', ['-c', `set -euo pipefail; source "${here}/../lib/env.sh"; ${line}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

async function program(file: string, given: readonly string[]): Promise<string> {
  const { stdout } = await run(file, given, { timeout: 180_000, maxBuffer: 1 << 24 })
  return stdout.trim().split('\n').at(-1)!
}

async function kafkajs(bootstrap: string, registryUrl: string, count: number): Promise<string> {
  const kafka = new Kafka({ brokers: [bootstrap], logLevel: logLevel.ERROR })
  const schemas = [
    {
      type: SchemaType.AVRO,
      schema:
        '{"type":"record","name":"Order","namespace":"js","fields":[{"name":"id","type":"int"},{"name":"tags","type":{"type":"array","items":"string"}}]}',
    },
    {
      type: SchemaType.JSON,
      schema:
        '{"type":"object","properties":{"id":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]}',
    },
    { type: SchemaType.PROTOBUF, schema: 'syntax = "proto3"; package js; message Order { int32 id = 1; repeated string tags = 2; }' },
  ]
  const admin = kafka.admin()
  await admin.connect()
  const producer = kafka.producer()
  await producer.connect()
  for (const schema of schemas) {
    const topic = `sr-kafkajs-${schema.type.toLowerCase()}`
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] })
    const writer = new SchemaRegistry({ host: registryUrl })
    const { id } = await writer.register(schema as never, { subject: `${topic}-value` })
    const values = Array.from({ length: count }, (_, i) => ({ id: i + 1, tags: ['a', String(i)] }))
    await producer.send({ topic, messages: await Promise.all(values.map(async (value) => ({ value: await writer.encode(id, value) }))) })
    const reader = new SchemaRegistry({ host: registryUrl })
    const consumer = kafka.consumer({ groupId: topic })
    await consumer.connect()
    await consumer.subscribe({ topics: [topic], fromBeginning: true })
    const got: unknown[] = []
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${topic}: ${got.length} of ${count} records after a minute`)), 60_000)
      void consumer.run({
        eachMessage: async ({ message }) => {
          const { id, tags } = (await reader.decode(message.value!)) as (typeof values)[number]
          got.push({ id, tags })
          if (got.length === count) {
            clearTimeout(timer)
            resolve()
          }
        },
      })
    })
    await consumer.disconnect()
    if (JSON.stringify(got) !== JSON.stringify(values)) throw new Error(`${topic}: other records came back`)
  }
  await producer.disconnect()
  await admin.disconnect()
  return `${count * schemas.length} records came back`
}

type Judge = (bootstrap: string, registryUrl: string) => Promise<string>
const judges: Readonly<Record<string, Judge>> = {
  'confluent-kafka': (bootstrap, url) =>
    program(shell(`python_env schemas "${here}/python/requirements.txt"`), [
      join(here, 'python/registry.py'),
      bootstrap,
      url,
      flags.records,
    ]),
  'java serde': (bootstrap, url) => {
    const jars = shell(`java_jars serdes "${here}/java/pom.xml"`)
    return program('java', ['-XX:TieredStopAtLevel=1', '-cp', `${jars}/*`, join(here, 'java/Serde.java'), bootstrap, url, flags.records])
  },
  kafkajs: (bootstrap, url) => kafkajs(bootstrap, url, Number(flags.records)),
}

const broker = new Broker({ 'group.initial.rebalance.delay.ms': '100' })
await broker.start()
let failed = 0
for (const [name, judge] of Object.entries(judges)) {
  if (!only.test(name)) continue
  const begun = Date.now()
  try {
    const said = await judge(broker.bootstrap, `${broker.http}/schemas`)
    console.log(`ok    ${name}: ${said} (${((Date.now() - begun) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed++
    const { stderr, message } = error as { stderr?: string; message: string }
    console.log(`FAIL  ${name}: ${(stderr || message).trim().split('\n').slice(-6).join(' | ').slice(0, 1500)}`)
  }
}
await broker.destroy()
process.exit(failed === 0 ? 0 : 1)
