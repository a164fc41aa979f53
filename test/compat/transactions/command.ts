import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import type { Broker } from '../../lib/broker.ts'

const wants = (text: string, pattern: RegExp, what: string): number => {
  if (pattern.test(text)) return 0
  console.log(`TransactionsCommand ${what}: ${pattern} is not in\n${text}`)
  return 1
}

/**
 * Kafka's own tool (`kafka-transactions.sh`) on a transaction that kafkajs leaves open: it is listed and described, found by its
 * offset, and aborted behind the coordinator, which moves the last stable offset on. The number of things that were not so.
 */
export async function transactionsCommand(broker: Broker, here: string, shell: (line: string) => string): Promise<number> {
  const jars = shell(`java_jars kafka-peer "${join(here, '../../bench/lib/kafka-pom.xml')}"`)
  const tool = (...args: string[]): string =>
    execFileSync(
      'java',
      [
        '-XX:TieredStopAtLevel=1',
        '-cp',
        `${jars}/*`,
        'org.apache.kafka.tools.TransactionsCommand',
        '--bootstrap-server',
        broker.bootstrap,
        ...args,
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], timeout: 60_000 },
    )
  const kafka = new Kafka({ brokers: [broker.bootstrap], logLevel: logLevel.ERROR })
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic: 'hanging', numPartitions: 1 }] })
  const producer = kafka.producer({ transactionalId: 'hangs', idempotent: true, maxInFlightRequests: 1, transactionTimeout: 600_000 })
  await producer.connect()
  const done = await producer.transaction()
  await done.send({ topic: 'hanging', messages: [{ value: 'committed' }] })
  await done.commit()
  const open = await producer.transaction()
  await open.send({ topic: 'hanging', messages: [{ value: 'left open' }] })

  let failed = 0
  failed += wants(tool('list'), /^hangs\s+\d+\s+\d+\s+Ongoing/m, 'list')
  failed += wants(tool('describe', '--transactional-id', 'hangs'), /hangs.*Ongoing.*600000.*hanging-0/, 'describe')
  const producers = tool('describe-producers', '--topic', 'hanging', '--partition', '0')
  // the committed record and its marker lie before it
  failed += wants(producers, /^\d+\s+\d+\s+\d+\s+\d+\s+\d+\s+2\s*$/m, 'describe-producers')
  tool('abort', '--topic', 'hanging', '--partition', '0', '--start-offset', '2')
  failed += wants(tool('describe-producers', '--topic', 'hanging', '--partition', '0'), /None\s*$/m, 'describe-producers after abort')
  const consumer = kafka.consumer({ groupId: 'after-abort', readUncommitted: false })
  await consumer.connect()
  await consumer.subscribe({ topic: 'hanging', fromBeginning: true })
  await producer.disconnect()
  const after = kafka.producer({ idempotent: true })
  await after.connect()
  await after.send({ topic: 'hanging', messages: [{ value: 'after' }] })
  const seen: string[] = []
  const reached = new Promise<boolean>((resolve) => {
    setTimeout(() => resolve(false), 20_000).unref()
    void consumer.run({
      eachMessage: ({ message }) => {
        seen.push(String(message.value))
        if (seen.at(-1) === 'after') resolve(true)
        return Promise.resolve()
      },
    })
  })
  if (!(await reached) || seen.join() !== 'committed,after') {
    console.log(`after the abort kafkajs reads ${JSON.stringify(seen)}`)
    failed++
  }
  for (const part of [consumer, after, admin]) await part.disconnect()
  return failed
}
