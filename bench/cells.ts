import { javaArgs, run, sleep } from './lib/process.ts'
import { createTopic, FrazilSubject, spent, type Subject } from './lib/subjects.ts'

/** Numbers of one run of one cell, by name with unit. */
export type Measure = Readonly<Record<string, number>>

export interface Cell {
  readonly name: string
  /** What the client was given. */
  readonly flags: string
  /** Frazil's settings for this cell. */
  readonly frazil: Readonly<Record<string, string>>
  readonly goals: Readonly<Record<string, string>>
  run(subject: Subject): Promise<Measure>
}

interface Options {
  readonly jars: string
  /** Value bytes of a throughput run. */
  readonly bytes: number
  readonly more: boolean
}

const RECORD_BYTES = 1024
const tool = 'org.apache.kafka.tools.'

interface Producing {
  readonly records: number
  readonly throughput: number
  readonly batchBytes: number
  readonly lingerMs: number
  readonly codec: string
  /** Records that are sent first and left out of the numbers: the client's own code is cold then. */
  readonly warmup?: number
  /** Commits a transaction this often. */
  readonly transactionMs?: number
}

const producerFlags = (p: Producing): string[] => [
  '--num-records',
  String(p.records),
  '--record-size',
  String(RECORD_BYTES),
  '--throughput',
  String(p.throughput),
  ...(p.warmup === undefined ? [] : ['--warmup-records', String(p.warmup)]),
  ...(p.transactionMs === undefined ? [] : ['--transactional-id', 'bench', '--transaction-duration-ms', String(p.transactionMs)]),
  '--command-property',
  'acks=all',
  `batch.size=${p.batchBytes}`,
  `linger.ms=${p.lingerMs}`,
  `compression.type=${p.codec}`,
  'buffer.memory=67108864',
]

async function produce(
  jars: string,
  subject: Subject,
  topic: string,
  p: Producing,
): Promise<{ megabytesPerSecond: number; p99Ms: number; seconds: number }> {
  const args = ['--bootstrap-server', subject.bootstrap, '--topic', topic, ...producerFlags(p)]
  const { output, seconds } = await run('0', 'java', javaArgs(jars, '512m', `${tool}ProducerPerformance`, args))
  const last = output.trim().split('\n').at(-1)!
  return {
    megabytesPerSecond: (Number(/([\d.]+) MB\/sec/.exec(last)![1]) * 1048576) / 1e6,
    p99Ms: Number(/(\d+) ms 99th/.exec(last)![1]),
    seconds,
  }
}

async function consume(
  jars: string,
  subject: Subject,
  topic: string,
  records: number,
): Promise<{ megabytesPerSecond: number; seconds: number }> {
  const args = [
    '--bootstrap-server',
    subject.bootstrap,
    '--topic',
    topic,
    '--num-records',
    String(records),
    '--hide-header',
    '--timeout',
    '60000',
  ]
  const { output, seconds } = await run('0', 'java', javaArgs(jars, '512m', `${tool}ConsumerPerformance`, args))
  const fields = output.trim().split('\n').at(-1)!.split(',')
  return { megabytesPerSecond: (Number(fields[8]) * 1048576) / 1e6, seconds }
}

function produceCell(
  options: Options,
  partitions: number,
  batchBytes: number,
  lingerMs: number,
  codec: string,
  transactionMs?: number,
): Cell {
  const records = Math.round(options.bytes / RECORD_BYTES)
  const p = { records, throughput: -1, batchBytes, lingerMs, codec, transactionMs }
  const small = batchBytes < 100_000
  return {
    name: `produce ${partitions}p ${batchBytes / 1024}KiB ${codec}${transactionMs === undefined ? '' : ` ${transactionMs} ms transactions`}`,
    flags: `ProducerPerformance ${producerFlags(p).join(' ')} (conversion paused)`,
    frazil: { conversion: 'paused', 'backlog-max-bytes': String(1e12) },
    goals: small ? { 'MB/s': '≥ 1.0', 'CPU s/GB': '≤ 0.67' } : { 'MB/s': '≥ 1.0' },
    async run(subject) {
      await createTopic(subject, 'bench', partitions)
      await produce(options.jars, subject, 'bench', { ...p, records: Math.ceil(records / 8) })
      const { value, cpu } = await spent(subject, () => produce(options.jars, subject, 'bench', p))
      return { 'MB/s': value.megabytesPerSecond, 'CPU s/GB': cpu / (options.bytes / 1e9), 'p99 ms': value.p99Ms }
    },
  }
}

function consumeCell(options: Options, cold: boolean): Cell {
  const records = Math.round(options.bytes / RECORD_BYTES)
  return {
    name: cold ? 'consume cold, from table files' : 'consume hot',
    flags: `ConsumerPerformance --num-records ${records}${cold ? ' after conversion and a restart (no cache of the process)' : ''}`,
    frazil: cold
      ? { 'wal-grace-ms': '1000' }
      : { conversion: 'paused', 'backlog-max-bytes': String(1e12), 'cache-bytes': String(Math.ceil(options.bytes * 1.3)) },
    goals: { 'MB/s': cold ? '≥ 0.5' : '≥ 1.0' },
    async run(subject) {
      await createTopic(subject, 'bench', 16, subject instanceof FrazilSubject ? { 'table.commit.interval.ms': '1000' } : {})
      await produce(options.jars, subject, 'bench', { records, throughput: -1, batchBytes: 1048576, lingerMs: 20, codec: 'none' })
      if (cold) {
        if (subject instanceof FrazilSubject) {
          for (let n = 0; n < 300 && (await subject.metric('frazil_wal_objects')) > 0; n++) await sleep(1000)
        }
        await subject.stop()
        await subject.start()
      }
      const { value, cpu } = await spent(subject, () => consume(options.jars, subject, 'bench', records))
      return { 'MB/s': value.megabytesPerSecond, 'CPU s/GB': cpu / (options.bytes / 1e9) }
    },
  }
}

function latencyCells(options: Options): Cell[] {
  const p = { records: 150_000, throughput: 5000, batchBytes: 16384, lingerMs: 0, codec: 'none', warmup: 50_000 }
  return [
    {
      name: 'latency at 5000 records/s',
      flags: `ProducerPerformance ${producerFlags(p).join(' ')} (no fsync)`,
      frazil: { fsync: 'false' },
      goals: { 'p99 ms': '≤ 1.5' },
      async run(subject) {
        await createTopic(subject, 'bench', 16)
        return { 'p99 ms': (await produce(options.jars, subject, 'bench', p)).p99Ms }
      },
    },
    {
      name: 'end to end, one at a time',
      flags: 'EndToEndLatency --num-records 5000 --producer-acks all --record-size 100 (no fsync)',
      frazil: { fsync: 'false' },
      goals: { 'p50 ms': '≤ 2', 'p99 ms': '≤ 2' },
      async run(subject) {
        await createTopic(subject, 'bench', 1)
        const args = [
          '--bootstrap-server',
          subject.bootstrap,
          '--topic',
          'bench',
          '--num-records',
          '5000',
          '--producer-acks',
          'all',
          '--record-size',
          '100',
        ]
        const { output } = await run('0', 'java', javaArgs(options.jars, '512m', `${tool}EndToEndLatency`, args))
        const average = Number(/Avg latency: ([\d.]+)/.exec(output)![1])
        const [, p50, p99] = /50th = (\d+), 99th = (\d+)/.exec(output)!
        return { 'average ms': average, 'p50 ms': Number(p50), 'p99 ms': Number(p99) }
      },
    },
  ]
}

/** The six cells that claims rest on, latency, and with `more` the rest. */
export function cellsOf(options: Options): Cell[] {
  const cells = [16384, 1048576].flatMap((batch) =>
    ['none', 'zstd'].map((codec) => produceCell(options, 16, batch, batch === 16384 ? 5 : 20, codec)),
  )
  cells.push(produceCell(options, 16, 16384, 5, 'none', 100))
  cells.push(consumeCell(options, false), consumeCell(options, true), ...latencyCells(options))
  if (options.more) {
    for (const partitions of [1, 16, 100]) {
      for (const codec of partitions === 16 ? ['lz4'] : ['none', 'lz4', 'zstd']) {
        cells.push(produceCell(options, partitions, 16384, 5, codec), produceCell(options, partitions, 1048576, 20, codec))
      }
    }
  }
  return cells
}
