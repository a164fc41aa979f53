import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Broker, freePort } from '../../lib/broker.ts'
import { seeded } from '../../lib/random.ts'
import { batchOf, cpuSeconds, createTopic, fetchOf, produce, RawClient, readAll, sleep } from './client.ts'
import { check } from './report.ts'

const PARTITIONS = 4
/** Snapshots, truncations and conversions all the time. */
const BUSY = { 'snapshot-bytes': '65536', 'wal-grace-ms': '300', 'convert-bytes': '262144', 'wal-evacuate-ms': '1500' }
const TOPIC = 'loaded'

/** Producers that note what was acknowledged, through restarts. */
class Load {
  readonly acknowledged: string[][] = Array.from({ length: PARTITIONS }, () => [])
  errors = 0
  #over = false
  readonly #broker: Broker
  readonly #workers: Promise<void>[]

  constructor(broker: Broker) {
    this.#broker = broker
    this.#workers = this.acknowledged.map((values, partition) => this.#work(values, partition))
  }

  async #work(values: string[], partition: number): Promise<void> {
    for (let n = 0; !this.#over; n++) {
      try {
        const client = await RawClient.open(this.#broker.kafkaPort)
        for (; !this.#over; n++) {
          const text = `<${partition}/${n}>`.padEnd(n % 7 === 0 ? 300_000 : 2000, 'v')
          const { error } = await produce(client, TOPIC, partition, batchOf([Buffer.from(text)]))
          if (error === 0) values.push(text.slice(0, text.indexOf('>') + 1))
          else this.errors++
        }
        await client.destroy()
      } catch {
        await sleep(50) // the broker is away
      }
    }
  }

  async stop(): Promise<void> {
    this.#over = true
    await Promise.all(this.#workers)
  }
}

/** What of the acknowledged values cannot be read, or twice. */
async function missing(broker: Broker, load: Load): Promise<string> {
  const client = await RawClient.open(broker.kafkaPort)
  for (const [partition, values] of load.acknowledged.entries()) {
    const { batches } = await readAll(client, TOPIC, partition)
    const text = Buffer.concat(batches).toString('latin1')
    let at = 0
    for (const value of values) {
      const found = text.indexOf(value, at)
      if (found < 0) return `${value} is not there, or not in its place`
      at = found
    }
  }
  await client.destroy()
  return ''
}

/** Part 6: ending under load, by signal and by kill. */
export async function shutdown(kills: number): Promise<void> {
  await npmStart()
  const broker = new Broker(BUSY)
  await broker.start()
  try {
    const client = await RawClient.open(broker.kafkaPort)
    await createTopic(client, TOPIC, PARTITIONS, { 'table.commit.interval.ms': '400', 'table.file.grace.ms': '500', 'segment.ms': '1000' })
    client.write(Buffer.from([0, 0])) // half a size, for ever
    const parked = await RawClient.open(broker.kafkaPort)
    const poll = parked.call(1, 12, { ...fetchOf(TOPIC, 0, 0, 1 << 20, 60_000), minBytes: 1 << 20 }, 60_000).catch(() => null)
    const load = new Load(broker)
    await sleep(1500)
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { code, ms } = await broker.end(signal)
      check(`${signal} under load: exit 0 within seconds`, code === 0 && ms < 8000, `exit ${code} after ${ms} ms`)
      await broker.start()
      await sleep(1000)
    }
    await poll
    const random = seeded(Number(process.env['LIMITS_SEED'] ?? 1))
    for (let i = 0; i < kills; i++) {
      await sleep(100 + random.int(600))
      await broker.restart('SIGKILL')
    }
    await sleep(500)
    await load.stop()
    const count = load.acknowledged.reduce((sum, values) => sum + values.length, 0)
    const lost = await missing(broker, load)
    check(`2 signals and ${kills} kills amid snapshots, conversions and truncations lose nothing`, lost === '', lost || `${count} records`)
    await broker.drained(60_000)
    const later = await missing(broker, load)
    check('nor does the table', later === '', later)
    check('no append failed but for the restarts', load.errors === 0, `${load.errors} errors`)
    await parked.destroy()
    await client.destroy()
  } finally {
    await broker.destroy()
  }
}

/** npm ends its shell on a signal, and nothing below it. */
async function npmStart(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'frazil-npm-'))
  const port = await freePort()
  const flags = ['--store', `file:${folder}`, '--listeners', `PLAINTEXT://127.0.0.1:${port}`, '--http', '127.0.0.1:0']
  const npm = spawn('npm', ['start', '--', ...flags], { cwd: fileURLToPath(new URL('../../..', import.meta.url)), stdio: 'ignore' })
  const listens = (): Promise<boolean> =>
    RawClient.open(port).then(
      (client) => client.destroy().then(() => true),
      () => false,
    )
  const becomes = async (wanted: boolean): Promise<boolean> => {
    for (let i = 0; i < 300; i++, await sleep(100)) if ((await listens()) === wanted) return true
    return false
  }
  const started = await becomes(true)
  npm.kill('SIGTERM')
  check('npm start runs it, and a signal to npm ends it', started && (await becomes(false)))
  rmSync(folder, { recursive: true, force: true })
}

/** Part 5: what an idle broker costs, with topics, groups, and a consumer that polls. */
export async function idle(seconds: number): Promise<void> {
  const broker = new Broker()
  await broker.start()
  try {
    const client = await RawClient.open(broker.kafkaPort)
    for (let t = 0; t < 5; t++) {
      await createTopic(client, `idle-${t}`, 4)
      await produce(client, `idle-${t}`, 0, batchOf([Buffer.from('x')]))
    }
    const kafkajs = await import('kafkajs')
    const kafka = new kafkajs.Kafka({ brokers: [broker.bootstrap], logLevel: kafkajs.logLevel.NOTHING })
    const consumer = kafka.consumer({ groupId: 'idle' })
    await consumer.connect()
    await consumer.subscribe({ topics: [/idle-.*/], fromBeginning: true })
    await consumer.run({ eachMessage: () => Promise.resolve() })
    await sleep(seconds >= 60 ? 90_000 : 8000) // first conversions
    const from = cpuSeconds(broker.pid)
    await sleep(seconds * 1000)
    const share = ((cpuSeconds(broker.pid) - from) / seconds) * 100
    check('idle costs at most 0.5 % of a core', share <= 0.5, `${share.toFixed(2)} % over ${seconds} s`)
    await consumer.disconnect()
    await client.destroy()
  } finally {
    await broker.destroy()
  }
}
