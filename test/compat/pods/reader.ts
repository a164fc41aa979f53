import { crc32 } from 'node:zlib'
import type { Consumer, Kafka } from 'kafkajs'

/** What one partition brought: a checksum at each offset, and whether it was read. */
interface Seen {
  crcs: Uint32Array
  read: Uint8Array
  count: number
  end: number
}

/** A consumer group of two that reads all the while: every record at least once, each offset always with the same bytes. */
export class Reader {
  readonly #kafka: Kafka
  readonly #topic: string
  readonly #consumers: Consumer[] = []
  readonly #seen = new Map<number, Seen>()
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

  /** Waits until `total` records were read, as long as it goes on; what was wrong. */
  async finish(total: number): Promise<readonly string[]> {
    for (let still = 0, before = -1; still < 600 && this.#count < total; still++) {
      if (this.#count !== before) still = 0
      before = this.#count
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await Promise.all(this.#consumers.map((consumer) => consumer.disconnect()))
    if (this.#count < total) this.#problems.push(`${total} records were acknowledged, the group read ${this.#count}`)
    for (const [partition, { count, end }] of this.#seen) {
      if (count !== end) this.#problems.push(`partition ${partition}: ${count} offsets read, the last is ${end - 1}`)
    }
    return this.#problems
  }

  #take(partition: number, offset: number, value: Buffer): void {
    let seen = this.#seen.get(partition)
    if (seen === undefined)
      this.#seen.set(partition, (seen = { crcs: new Uint32Array(1024), read: new Uint8Array(1024), count: 0, end: 0 }))
    if (offset >= seen.crcs.length) {
      const { crcs, read } = seen
      const length = Math.max(offset + 1, crcs.length * 2)
      seen.crcs = new Uint32Array(length)
      seen.crcs.set(crcs)
      seen.read = new Uint8Array(length)
      seen.read.set(read)
    }
    const crc = crc32(value)
    if (seen.read[offset] === 0) {
      seen.read[offset] = 1
      seen.crcs[offset] = crc
      seen.count++
      seen.end = Math.max(seen.end, offset + 1)
      this.#count++
    } else if (seen.crcs[offset] !== crc) this.#problems.push(`partition ${partition}, offset ${offset} was two records`)
  }
}
