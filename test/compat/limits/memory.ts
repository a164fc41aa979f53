import { Broker } from '../../lib/broker.ts'
import { batchOf, createTopic, fetchFrame, produce, produceFrame, RawClient, readAll, residentMib, sleep } from './client.ts'
import { check, note } from './report.ts'

const MIB = 1024 * 1024
/** Buffers that nobody holds any more, until they are collected (src/main.ts, and 16 MiB between two looks). */
const UNCOLLECTED_MIB = 256 + 16
/** Buffers in other hands: what sockets hand over, the log's write, conversion. */
const OTHER_MIB = 128
/** What the allocator and the heap hold beside them. */
const HEAP_MIB = 384
/** Resident at most, with the caches below, at any volume. */
const STEADY_RESIDENT_MIB = 1400
const SETTINGS = {
  'request-memory-bytes': String(128 * MIB),
  'cache-bytes': String(64 * MIB),
  'table-cache-bytes': String(64 * MIB),
  'wal-grace-ms': '1000',
}

/** Memory by kind, MiB: `array_buffers` are request frames, caches, answers; `heap` is V8's. */
async function memoryMib(broker: Broker, kind: 'array_buffers' | 'heap'): Promise<number> {
  const text = await (await fetch(`${broker.http}/metrics`)).text()
  return Number(new RegExp(`frazil_process_memory_bytes\\{kind="${kind}"\\} (\\S+)`).exec(text)?.[1]) / MIB
}

interface Peak {
  readonly rss: number
  readonly buffers: number
  /** What requests held. */
  readonly held: number
}

/** The highest values seen while `work` runs. */
async function peakOf(broker: Broker, work: Promise<unknown>): Promise<Peak> {
  const peak = { rss: 0, buffers: 0, held: 0 }
  const over = work.then(() => true)
  do {
    peak.rss = Math.max(peak.rss, residentMib(broker.pid))
    peak.buffers = Math.max(peak.buffers, await memoryMib(broker, 'array_buffers'))
    peak.held = Math.max(peak.held, (await broker.metric('frazil_requests_in_flight_bytes')) / MIB)
  } while (!(await Promise.race([over, sleep(100).then(() => false)])))
  return peak
}

function randomValue(sizeBytes: number): Buffer {
  const value = Buffer.allocUnsafe(sizeBytes)
  let x = (Math.random() * 0xffffffff) | 1
  for (let i = 0; i + 4 <= sizeBytes; i += 4) {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    value.writeInt32LE(x, i)
  }
  return value
}

/** Part 4: many connections, slow readers, idle ones, and a long run. */
export async function memory(long: boolean): Promise<void> {
  await pipelined(long ? 100 : 60)
  await slowReaders(long ? 100 : 60, long)
  await idleConnections(2000)
  await steady(long)
}

/** Every connection sends 10 batches of 1 MiB as fast as it can, answers unread until all are sent. */
async function pipelined(connections: number): Promise<void> {
  const broker = new Broker(SETTINGS)
  await broker.start()
  try {
    const first = await RawClient.open(broker.kafkaPort)
    await createTopic(first, 'pipelined', 16)
    const value = randomValue(MIB - 200)
    const before = residentMib(broker.pid)
    const clients = await Promise.all(Array.from({ length: connections }, () => RawClient.open(broker.kafkaPort)))
    const run = Promise.all(
      clients.map(async (client, i) => {
        const frame = produceFrame('pipelined', i % 16, batchOf([value]))
        for (let n = 0; n < 10; n++) client.write(frame)
        let answers = 0
        for (; answers < 10; answers++) if (!((await client.answer(60_000)) instanceof Buffer)) break
        await client.destroy()
        return answers
      }),
    )
    const { rss, buffers, held } = await peakOf(broker, run)
    const answered = (await run).reduce((sum, one) => sum + one, 0)
    check(`${connections} connections with 10 MiB in flight each are all answered`, answered === connections * 10, `${answered} answers`)
    // request-memory-bytes, one request more, and what sockets hand over at once; then the cache, and what V8 has yet to collect
    const bound = 128 + 1 + connections / 16
    check('what requests hold stays inside the stated bound', held < bound, `${held.toFixed(0)} of ${bound.toFixed(0)} MiB`)
    // a frame has its buffer when an eighth of it has arrived
    const whole = bound + connections + 64 + UNCOLLECTED_MIB + OTHER_MIB
    check('and so do its buffers', buffers < whole, `${buffers.toFixed(0)} of ${whole.toFixed(0)} MiB`)
    const grown = rss - before
    check('and the process', grown < whole + HEAP_MIB, `resident ${before.toFixed(0)} to ${rss.toFixed(0)} MiB`)
    let ends = 0
    for (let p = 0; p < 16; p++) ends += (await readAll(first, 'pipelined', p)).end
    check('each batch is stored once', ends === answered, `${ends} records`)
    await first.destroy()
  } finally {
    await broker.destroy()
  }
}

/** Readers that ask for 50 MiB each, of partitions of their own, and take nothing: from the log and from table files. */
async function slowReaders(readers: number, long: boolean): Promise<void> {
  const partitions = long ? 40 : 20
  const eachMib = 10
  const broker = new Broker({
    ...SETTINGS,
    'cache-bytes': String(8 * MIB),
    'response-memory-bytes': String(64 * MIB),
    'convert-bytes': String(1024 * MIB),
  })
  await broker.start()
  try {
    const first = await RawClient.open(broker.kafkaPort)
    await createTopic(first, 'slow', partitions, { 'table.commit.interval.ms': '3600000' })
    const batch = batchOf([randomValue(MIB - 200)])
    for (let i = 0; i < eachMib; i++) {
      for (let p = 0; p < partitions; p++) first.write(produceFrame('slow', p, batch))
      for (let p = 0; p < partitions; p++) await first.answer(60_000)
    }
    await read('the log')
    await fetch(`${broker.http}/iceberg/v1/namespaces/default/tables/slow`)
    await broker.drained(60_000)
    await read('table files')
    await first.destroy()
  } finally {
    await broker.destroy()
  }

  async function read(from: string): Promise<void> {
    const before = residentMib(broker.pid)
    const clients = await Promise.all(Array.from({ length: readers }, () => RawClient.open(broker.kafkaPort)))
    for (const [i, client] of clients.entries()) {
      client.socket.pause()
      client.write(fetchFrame('slow', i % partitions, 0))
    }
    let queued = 0
    const watch = async (): Promise<void> => {
      for (let i = 0; i < (long ? 25 : 12); i++) {
        queued = Math.max(queued, (await broker.metric('frazil_responses_queued_bytes')) / MIB)
        await sleep(200)
      }
    }
    const { rss } = await peakOf(broker, watch())
    note(`slow readers of ${from}: resident ${before.toFixed(0)} to ${rss.toFixed(0)} MiB`)
    // response-memory-bytes, 1 MiB a reader, and the reads that were under way when it filled
    const bound = 64 + readers + 64
    check(
      `${readers} readers of ${from} that take nothing stay inside a bound`,
      queued <= bound,
      `${queued.toFixed(0)} of ${bound} MiB queued`,
    )
    const good = await RawClient.open(broker.kafkaPort)
    const { error } = await produce(good, 'slow', 0, batchOf([Buffer.from('x')]), 5000).catch(() => ({ error: 'no answer' }))
    const { end } = await readAll(good, 'slow', 7).catch(() => ({ end: -1 }))
    check('   others produce and fetch meanwhile', error === 0 && end >= eachMib, `${error}, ${end} records`)
    await good.destroy()
    await Promise.all(clients.map((client) => client.destroy()))
    await sleep(500)
    check('   and nothing stays queued', (await broker.metric('frazil_responses_queued_bytes')) === 0)
  }
}

async function idleConnections(count: number): Promise<void> {
  const broker = new Broker(SETTINGS)
  await broker.start()
  try {
    const before = residentMib(broker.pid)
    const clients: RawClient[] = []
    for (let i = 0; i < count; i += 100) {
      clients.push(...(await Promise.all(Array.from({ length: 100 }, () => RawClient.open(broker.kafkaPort)))))
    }
    await Promise.all(clients.map((client) => client.call(18, 0, {})))
    const grown = residentMib(broker.pid) - before
    check(`${count} idle connections cost little`, grown < 100, `${grown.toFixed(0)} MiB, ${((grown * 1024) / count).toFixed(1)} KiB each`)
    await Promise.all(clients.map((client) => client.destroy()))
  } finally {
    await broker.destroy()
  }
}

/**
 * Memory after the first and after the last of equal volumes: what grows with them is a leak. Resident memory also has what malloc
 * keeps, which takes gigabytes to settle: the long form compares it too, the short form only bounds it.
 */
async function steady(long: boolean): Promise<void> {
  const broker = new Broker(SETTINGS)
  await broker.start()
  try {
    const stepBytes = long ? 1024 * MIB : 256 * MIB
    const clients = await Promise.all(Array.from({ length: 4 }, () => RawClient.open(broker.kafkaPort)))
    await createTopic(clients[0], 'steady', 4, { 'retention.bytes': '100000000' })
    const value = randomValue(1024)
    const batch = batchOf(Array.from({ length: 900 }, () => value))
    const sizes: number[] = []
    const used: number[] = []
    const steps = long ? 4 : 5
    for (let step = 0; step < steps; step++) {
      const each = stepBytes / batch.length / clients.length
      await Promise.all(
        clients.map(async (client, p) => {
          const frame = produceFrame('steady', p, batch)
          let open = 0
          for (let i = 0; i < each; i++) {
            client.write(frame)
            if (++open === 4) {
              await client.answer(60_000)
              open--
            }
          }
          for (; open > 0; open--) await client.answer(60_000)
        }),
      )
      await sleep(long ? 10_000 : 1000)
      sizes.push(residentMib(broker.pid))
      used.push((await memoryMib(broker, 'array_buffers')) + (await memoryMib(broker, 'heap')))
    }
    const shown = sizes.map((size) => size.toFixed(0)).join(', ')
    note(`resident after each ${stepBytes / MIB} MiB: ${shown} MiB`)
    note(`   in use: ${used.map((size) => size.toFixed(0)).join(', ')} MiB`)
    const grown = used.at(-1)! - used[0]
    check('memory in use does not grow with what is produced', grown < 64 + UNCOLLECTED_MIB, `${grown.toFixed(0)} MiB more`)
    const most = Math.max(...sizes)
    check('resident memory stays inside a bound', most < STEADY_RESIDENT_MIB, `${most.toFixed(0)} of ${STEADY_RESIDENT_MIB} MiB`)
    if (long) check('resident memory does not grow', sizes[3] - sizes[0] < 64, `${(sizes[3] - sizes[0]).toFixed(0)} MiB more`)
    await Promise.all(clients.map((client) => client.destroy()))
  } finally {
    await broker.destroy()
  }
}
