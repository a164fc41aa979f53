import type { Consumer, Kafka } from 'kafkajs'

/** A consumer group of two that reads all the while: every record at least once, each offset always with the same bytes. */
export class Reader {
  readonly #kafka: Kafka
  readonly #topic: string
  readonly #consumers: Consumer[] = []
  readonly #seen = new Map<number, Map<number, string>>()
  readonly #problems: string[] = []
  #count = 0

  constructor(kafka: Kafka, topic: string) {
    this.#kafka = kafka
    this.#topic = topic
  }

  /** Different records read. */
  get count(): number {
    return this.#count
  }

  async start(): Promise<void> {
    for (let member = 0; member < 2; member++) {
      const consumer = this.#kafka.consumer({
        groupId: 'reader',
        sessionTimeout: 15_000,
        rebalanceTimeout: 20_000,
        retry: { retries: 60, maxRetryTime: 2000, restartOnFailure: async () => true },
      })
      this.#consumers.push(consumer)
      await consumer.connect()
      await consumer.subscribe({ topic: this.#topic, fromBeginning: true })
      await consumer.run({
        autoCommitInterval: 1000,
        eachMessage: async ({ partition, message }) => this.#take(partition, Number(message.offset), message.value!),
      })
    }
  }

  /** Waits until `total` records were read; what was wrong. */
  async finish(total: number): Promise<readonly string[]> {
    for (let i = 0; i < 600 && this.#count < total; i++) await new Promise((resolve) => setTimeout(resolve, 100))
    await Promise.all(this.#consumers.map((consumer) => consumer.disconnect()))
    if (this.#count < total) this.#problems.push(`${total} records were acknowledged, the group read ${this.#count}`)
    for (const [partition, offsets] of this.#seen) {
      const last = Math.max(...[...offsets.keys()].slice(-1000))
      if (offsets.size !== last + 1) this.#problems.push(`partition ${partition}: ${offsets.size} offsets read, the last is ${last}`)
    }
    return this.#problems
  }

  #take(partition: number, offset: number, value: Buffer): void {
    let offsets = this.#seen.get(partition)
    if (offsets === undefined) this.#seen.set(partition, (offsets = new Map()))
    const text = value.toString('latin1')
    const before = offsets.get(offset)
    if (before === undefined) {
      offsets.set(offset, text)
      this.#count++
    } else if (before !== text) this.#problems.push(`partition ${partition}, offset ${offset} was two records`)
  }
}
