import { Kafka, logLevel, type Consumer, type Producer } from 'kafkajs'
import { sleep } from '../lib/process.ts'

const TOPICS_A_REQUEST = 100
const GROUPS = 20
const TOPICS_A_GROUP = 10
const COMMIT_MS = 5000
const RECORD_BYTES = 16 * 1024

/** Clients that do nothing: consumers in groups that commit by the clock, idempotent producers that are connected. */
export class IdleClients {
  readonly #consumers: Consumer[] = []
  readonly #producers: Producer[] = []
  readonly #timers: NodeJS.Timeout[] = []

  static async start(
    bootstrap: readonly string[],
    count: { readonly consumers: number; readonly producers: number; readonly topics: number },
  ): Promise<IdleClients> {
    const clients = new IdleClients()
    const kafka = client(bootstrap)
    for (let i = 0; i < count.producers; i++) {
      const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
      await producer.connect()
      // the id is asked for with the first record
      await producer.send({ topic: topicName(i % count.topics), messages: [{ value: 'first' }] })
      clients.#producers.push(producer)
    }
    const groups = Math.min(GROUPS, count.consumers)
    await Promise.all(Array.from({ length: count.consumers }, (_, i) => clients.#consume(kafka, i % groups, count.topics)))
    return clients
  }

  async #consume(kafka: Kafka, group: number, topics: number): Promise<void> {
    const consumer = kafka.consumer({ groupId: `group-${group}`, maxWaitTimeInMs: 5000 })
    await consumer.connect()
    const own = Array.from({ length: Math.min(TOPICS_A_GROUP, topics) }, (_, i) => topicName((group * TOPICS_A_GROUP + i) % topics))
    await consumer.subscribe({ topics: own, fromBeginning: true })
    let assigned: readonly { readonly topic: string; readonly partition: number }[] = []
    consumer.on('consumer.group_join', ({ payload }) => {
      assigned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      )
    })
    await consumer.run({ eachMessage: async () => {} })
    // As the Java client does: the same offsets again, every five seconds (L20).
    this.#timers.push(
      setInterval(() => {
        void consumer.commitOffsets(assigned.map(({ topic, partition }) => ({ topic, partition, offset: '0' }))).catch(() => undefined)
      }, COMMIT_MS),
    )
    this.#consumers.push(consumer)
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await Promise.allSettled([...this.#consumers, ...this.#producers].map((one) => one.disconnect()))
  }
}

export async function createTopics(bootstrap: readonly string[], topics: number, partitions: number): Promise<void> {
  const admin = client(bootstrap).admin()
  await admin.connect()
  for (let at = 0; at < topics; at += TOPICS_A_REQUEST) {
    const names = Array.from({ length: Math.min(TOPICS_A_REQUEST, topics - at) }, (_, i) => topicName(at + i))
    await admin.createTopics({
      topics: names.map((topic) => ({ topic, numPartitions: partitions, replicationFactor: 1 })),
      timeout: 60_000,
    })
  }
  await admin.disconnect()
}

/** Sends incompressible records at a rate, or as fast as it goes, to the first topics. Returns bytes sent. */
export async function load(
  bootstrap: readonly string[],
  options: { readonly topics: number; readonly bytesPerSecond: number; readonly seconds: number },
): Promise<number> {
  const kafka = client(bootstrap)
  const value = Buffer.from(Uint8Array.from({ length: RECORD_BYTES }, (_, i) => (i * 2654435761) >>> 13))
  const began = performance.now()
  let sent = 0
  const one = async (index: number): Promise<void> => {
    const producer = kafka.producer({ allowAutoTopicCreation: false })
    await producer.connect()
    while (performance.now() - began < options.seconds * 1000) {
      const count = Math.max(1, Math.min(32, Math.floor(options.bytesPerSecond / options.topics / 10 / RECORD_BYTES)))
      await producer.send({ topic: topicName(index), acks: -1, messages: Array.from({ length: count }, () => ({ value })) })
      sent += count * RECORD_BYTES
      const aheadMs = (sent / options.bytesPerSecond) * 1000 - (performance.now() - began)
      if (aheadMs > 0) await sleep(aheadMs)
    }
    await producer.disconnect()
  }
  await Promise.all(Array.from({ length: options.topics }, (_, i) => one(i)))
  return sent
}

export const topicName = (index: number): string => `cost-${index}`

function client(bootstrap: readonly string[]): Kafka {
  return new Kafka({ brokers: [...bootstrap], logLevel: logLevel.NOTHING, requestTimeout: 60_000, retry: { retries: 20 } })
}
