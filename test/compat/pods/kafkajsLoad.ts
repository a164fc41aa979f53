import { createWriteStream, type WriteStream } from 'node:fs'
import { randomBytes } from 'node:crypto'
import type { Kafka, Producer } from 'kafkajs'

export interface KafkaJsLoadOptions {
  readonly topic: string
  readonly partitions: number
  readonly name: string
  readonly acked: string
  /** Records a second. */
  readonly rate: number
}

const BATCH = 50

/**
 * As python/loader.py, with kafkajs. What a send that failed brought is not known: its numbers are never used again, and whatever of
 * it is in the log is there once.
 */
export class KafkaJsLoad {
  readonly #options: KafkaJsLoadOptions
  readonly #kafka: Kafka
  readonly #out: WriteStream
  #running: Promise<void> = Promise.resolve()
  #stopped = false
  #next = 0

  constructor(kafka: Kafka, options: KafkaJsLoadOptions) {
    this.#kafka = kafka
    this.#options = options
    this.#out = createWriteStream(options.acked)
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running
    await new Promise((resolve) => this.#out.end(resolve))
  }

  async #run(): Promise<void> {
    let producer: Producer | null = null
    let failures = 0
    while (!this.#stopped) {
      const fromMs = performance.now()
      producer ??= await this.#connect()
      try {
        await this.#send(producer)
      } catch {
        // An idempotent producer of kafkajs does not get over a batch that it gave up: a new one does.
        failures++
        await producer.disconnect().catch(() => undefined)
        producer = null
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, (BATCH * 1000) / this.#options.rate - (performance.now() - fromMs))))
    }
    await producer?.disconnect()
    console.log(`${this.#next} kafkajs, ${failures} sends failed`)
  }

  async #connect(): Promise<Producer> {
    const producer = this.#kafka.producer({ idempotent: true, maxInFlightRequests: 1, retry: { retries: 60, maxRetryTime: 2000 } })
    await producer.connect()
    return producer
  }

  /**
   * A send per partition: of one that goes to several leaders and fails at one of them, kafkajs 2.2.4 sends again by the leaders of
   * then, also what another leader has answered already, under new sequence numbers (FINDINGS.md).
   */
  async #send(producer: Producer): Promise<void> {
    const { topic, partitions, name } = this.#options
    const numbers = Array.from({ length: BATCH }, () => this.#next++)
    for (let partition = 0; partition < partitions; partition++) {
      const own = numbers.filter((n) => n % partitions === partition)
      const messages = own.map((n) => ({
        partition,
        key: `k${n % 100}`,
        value: Buffer.concat([Buffer.from(`${name} ${n} `), randomBytes(100)]),
      }))
      for (const { baseOffset } of await producer.send({ topic, acks: -1, messages })) {
        own.forEach((n, i) => this.#out.write(`${n} ${partition} ${Number(baseOffset) + i}\n`))
      }
    }
  }
}
