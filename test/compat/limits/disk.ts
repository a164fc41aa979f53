import { execFileSync } from 'node:child_process'
import { mkdtempSync, renameSync, rmSync, statfsSync, truncateSync, openSync, writeSync, closeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { Broker } from '../../lib/broker.ts'
import { batchOf, createTopic, produce, readAll, RawClient, sleep } from './client.ts'
import { check, note } from './report.ts'

const STORAGE_ERROR = 56
const TOPIC = 'disk'

/** Part 2: a full disk, one that cannot be written, a folder that is gone. */
export async function badDisks(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'frazil-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', root], { stdio: 'ignore' })
  } catch {
    check('a small file system can be mounted', false, 'needs root')
    return
  }
  try {
    await fullDisk(root)
    await readOnlyDisk(root)
  } finally {
    execFileSync('umount', ['-l', root])
    rmSync(root, { recursive: true, force: true })
  }
  await folderGone()
}

/** Fills what is left, down to `leftBytes`. */
function ballast(root: string, leftBytes: number): string {
  const file = join(root, 'ballast')
  const { bavail, bsize } = statfsSync(root)
  const fd = openSync(file, 'a')
  const block = Buffer.alloc(1 << 16)
  for (let left = bavail * bsize - leftBytes; left > 0; left -= block.length) {
    try {
      writeSync(fd, block)
    } catch {
      break // full already
    }
  }
  closeSync(fd)
  return file
}

class Acknowledged {
  readonly values: string[] = []
  readonly errors = new Map<number, number>()

  /** Produces records of `sizeBytes` until `count` tries are over. */
  async produce(client: RawClient, count: number, sizeBytes: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const text = `${this.values.length}-${i}-`.padEnd(sizeBytes, String.fromCharCode(97 + (i % 26)))
      const { error } = await produce(client, TOPIC, 0, batchOf([Buffer.from(text)]))
      this.errors.set(error, (this.errors.get(error) ?? 0) + 1)
      if (error === 0) this.values.push(text)
    }
  }

  get seen(): string {
    return [...this.errors].map(([error, count]) => `${count} × ${error}`).join(', ')
  }
}

/** True when every acknowledged value is read, in order; refused ones may not be among them. */
async function readsExactly(client: RawClient, values: readonly string[]): Promise<string> {
  const { batches } = await readAll(client, TOPIC, 0)
  const text = Buffer.concat(batches).toString('latin1')
  let at = 0
  for (const value of values) {
    const found = text.indexOf(value, at)
    if (found < 0) return `lost ${value.slice(0, 40)}`
    at = found + value.length
  }
  return ''
}

async function fullDisk(root: string): Promise<void> {
  const broker = new Broker(
    { store: `file:${root}/data`, 'wal-grace-ms': '500', 'snapshot-bytes': '65536', 'cache-bytes': '1048576' },
    mkdtempSync(join(tmpdir(), 'frazil-disk-log-')),
  )
  await broker.start()
  const client = await RawClient.open(broker.kafkaPort)
  await createTopic(client, TOPIC, 1, { 'table.commit.interval.ms': '500', 'table.file.grace.ms': '1000' })
  const acknowledged = new Acknowledged()
  const sizes = [
    ['records of 300 KB', 300_000],
    ['records of 1 MB', 1_000_000],
  ] as const
  try {
    for (const [name, sizeBytes] of sizes) {
      await acknowledged.produce(client, 10, sizeBytes)
      const file = ballast(root, 0)
      acknowledged.errors.clear()
      const from = Date.now()
      // a log file is made ahead with its space: what fits there is still taken
      for (let i = 0; i < 8 && !acknowledged.errors.has(STORAGE_ERROR); i++) await acknowledged.produce(client, 10, sizeBytes)
      await acknowledged.produce(client, 10, sizeBytes)
      check(
        `full disk, ${name}: refused with KAFKA_STORAGE_ERROR, the broker stays`,
        [...acknowledged.errors.keys()].every((error) => error === 0 || error === STORAGE_ERROR) && acknowledged.errors.has(STORAGE_ERROR),
        acknowledged.seen,
      )
      await sleep(3000) // conversions and snapshots run into it too
      check('   what was acknowledged is served', (await readsExactly(client, acknowledged.values)) === '')
      truncateSync(file, 0)
      rmSync(file)
      const freed = Date.now()
      acknowledged.errors.clear()
      for (;;) {
        const { error } = await produce(client, TOPIC, 0, batchOf([Buffer.from('again')]))
        if (error === 0 || Date.now() - freed > 15_000) break
        await sleep(50)
      }
      acknowledged.values.push('again')
      check('   it recovers when space returns', Date.now() - freed < 5000, `${Date.now() - freed} ms, ${freed - from} ms full`)
      await acknowledged.produce(client, 20, sizeBytes)
      const lost = await readsExactly(client, acknowledged.values)
      check('   no acknowledged record is lost', lost === '', lost)
    }
    // a real client that retries through it
    const kafka = new Kafka({
      brokers: [broker.bootstrap],
      logLevel: logLevel.NOTHING,
      retry: { retries: 50, initialRetryTime: 100, maxRetryTime: 500 },
    })
    const producer = kafka.producer({ idempotent: true })
    await producer.connect()
    const file = ballast(root, 0)
    const sent = Promise.all(
      Array.from({ length: 5 }, (_, i) => producer.send({ topic: TOPIC, messages: [{ value: `kafkajs-${i}-`.padEnd(200_000, 'k') }] })),
    )
    await sleep(2000)
    rmSync(file)
    await sent
    await producer.disconnect()
    for (let i = 0; i < 5; i++) acknowledged.values.push(`kafkajs-${i}-`)
    const { batches } = await readAll(client, TOPIC, 0)
    const text = Buffer.concat(batches).toString('latin1')
    const counts = Array.from({ length: 5 }, (_, i) => text.split(`kafkajs-${i}-k`).length - 1)
    check(
      'an idempotent kafkajs producer sends through a full disk, each record once',
      counts.every((count) => count === 1),
      counts.join(' '),
    )
    await client.destroy()
    await broker.drained(20_000)
    check('the table is written once there is space again', true)
    await broker.restart('SIGKILL')
    const again = await RawClient.open(broker.kafkaPort)
    const lost = await readsExactly(
      again,
      acknowledged.values.filter((value) => !value.startsWith('kafkajs')),
    )
    check('after kill -9 and restart it is all there, from the table', lost === '', lost)
    await again.destroy()
    note(`log lines: ${broker.tail(100_000).split('\n').length}`)
  } finally {
    await broker.destroy()
  }
}

/** A file system that cannot be written, at start. */
async function readOnlyDisk(root: string): Promise<void> {
  execFileSync('mount', ['-o', 'remount,ro', root])
  const broker = new Broker({ store: `file:${root}/data` }, mkdtempSync(join(tmpdir(), 'frazil-disk-log-')))
  try {
    await broker.start()
    check('a read-only folder is refused at start with a sentence', false, 'it started')
  } catch {
    await sleep(200)
    const said = broker.tail()
    check('a read-only folder is refused at start with a sentence', /^frazil: .*read-only/m.test(said), said.slice(0, 300))
  } finally {
    await broker.destroy()
    execFileSync('mount', ['-o', 'remount,rw', root])
  }
}

/** The folder is moved away under the running process. */
async function folderGone(): Promise<void> {
  const broker = new Broker()
  await broker.start()
  try {
    const client = await RawClient.open(broker.kafkaPort)
    await createTopic(client, TOPIC, 1)
    const acknowledged = new Acknowledged()
    await acknowledged.produce(client, 3, 100)
    const data = join(broker.folder, 'data')
    renameSync(data, `${data}-away`)
    acknowledged.errors.clear()
    await acknowledged.produce(client, 30, 1_000_000)
    note(`folder moved away: ${acknowledged.seen}`)
    renameSync(`${data}-away`, data)
    await acknowledged.produce(client, 5, 1000)
    const lost = await readsExactly(client, acknowledged.values)
    check('a folder that is gone for a while costs no acknowledged record', lost === '', lost)
    await client.destroy()
    await broker.restart('SIGKILL')
    const again = await RawClient.open(broker.kafkaPort)
    const later = await readsExactly(again, acknowledged.values)
    check('nor after a restart', later === '', later)
    await again.destroy()
  } finally {
    await broker.destroy()
  }
}
