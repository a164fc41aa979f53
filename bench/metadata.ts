/**
 * Micro-benchmark of the metadata room: `node bench/metadata.ts [seconds a case]`. CPU of encode + decode + apply of CommitWal,
 * bytes of memory per extent, producer and partition, and time to write and read a snapshot of a million extents.
 */
import { followEntry } from '../src/metadata/apply/apply.ts'
import { assembleEntry, encodeCommand } from '../src/metadata/codec.ts'
import type { Command, WalPart } from '../src/metadata/commands.ts'
import { decodeSnapshot, encodeSnapshot } from '../src/metadata/snapshot/file.ts'
import { Rooms } from '../src/metadata/state/state.ts'

const seconds = Number(process.argv[2] ?? 2)

class Bench {
  readonly rooms = new Rooms()
  walSequence = 0

  constructor() {
    this.apply({ kind: 'registerIncarnation', pod: 'bench', nonce: new Uint8Array(16), level: 1, fenceOlder: true })
  }

  apply(command: Command): void {
    const { rooms } = this
    const own = rooms.podRows.incarnations.get(1)
    const number = rooms.lastEntry + 1
    const head = { number, previousHash: rooms.lastHash, timeMs: 1_700_000_000_000 + number, writer: own ? 1 : 0, attachmentBytes: 0 }
    const proposal = {
      incarnation: own ? 1 : 0,
      sequence: own ? own.lastSequence + 1 : 0,
      attachmentOffset: 0,
      bytes: encodeCommand(command),
    }
    followEntry(rooms, { number, bytes: assembleEntry(head, [proposal]), attachmentBytes: 0 })
  }

  topic(name: string, partitions: number): void {
    const id = `${name.padStart(8, '0')}-0000-4000-8000-000000000000`
    this.apply({ kind: 'createTopic', name, topicId: id, partitions, configs: {}, table: { namespace: 'd', name, uuid: id } })
  }

  command(parts: readonly WalPart[], sizeBytes: number): Command {
    this.walSequence++
    const key = `wal/0/0000000001/${String(this.walSequence).padStart(12, '0')}.wal`
    return { kind: 'commitWal', key, sizeBytes, walSequence: this.walSequence, parts }
  }
}

function parts(partitions: number, batches: number, producerOf: (partition: number) => number, sequence: number): WalPart[] {
  return Array.from({ length: partitions }, (_, partition) => ({
    topic: 1,
    partition,
    byteOffset: partition * batches * 16_384,
    sizesBytes: Array.from({ length: batches }, () => 16_384),
    offsetCounts: Array.from({ length: batches }, () => 16),
    maxTimestampsMs: Array.from({ length: batches }, () => 1_700_000_000_000),
    producerIds: Array.from({ length: batches }, () => producerOf(partition)),
    producerEpochs: Array.from({ length: batches }, () => 0),
    baseSequences: Array.from({ length: batches }, (_, i) => (sequence + i * 16) % 0x80000000),
    appendTimesMs: Array.from({ length: batches }, () => -1),
  }))
}

/** CPU of the process while it encodes, decodes and applies; making the commands is not counted. */
function time(name: string, partitions: number, batches: number): void {
  const bench = new Bench()
  bench.topic('a', partitions)
  let commits = 0
  let cpuMicros = 0
  const endMs = performance.now() + seconds * 1000
  while (performance.now() < endMs) {
    const sizeBytes = partitions * batches * 16_384
    const commands = Array.from({ length: 500 }, (_, i) =>
      bench.command(
        parts(partitions, batches, () => 5000, (commits + i) * batches * 16),
        sizeBytes,
      ),
    )
    const cpu = process.cpuUsage()
    for (const command of commands) bench.apply(command)
    const { user, system } = process.cpuUsage(cpu)
    // The first round warms the compiler up.
    if (commits > 0) cpuMicros += user + system
    commits += commands.length
  }
  console.log(`${name.padEnd(52)} ${(cpuMicros / (commits - 500)).toFixed(1).padStart(8)} µs CPU a commit`)
}

function memoryUsed(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function memory(): void {
  const bench = new Bench()
  const partitions = 1000
  const before = memoryUsed()
  bench.topic('a', partitions)
  const withPartitions = memoryUsed()
  for (let i = 0; i < 1000; i++)
    bench.apply(
      bench.command(
        parts(partitions, 1, () => -1, -1),
        partitions * 16_384,
      ),
    )
  const withExtents = memoryUsed()
  console.log(`${'bytes a partition (without extents)'.padEnd(52)} ${((withPartitions - before) / partitions).toFixed(1).padStart(8)}`)
  console.log(
    `${'bytes an extent (1,000,000 of them, objects included)'.padEnd(52)} ${((withExtents - withPartitions) / 1e6).toFixed(1).padStart(8)}`,
  )
  let startMs = performance.now()
  const bytes = encodeSnapshot(bench.rooms)
  console.log(
    `${'snapshot of it, MiB and ms to encode (in the worker)'.padEnd(52)} ${(bytes.length / 2 ** 20).toFixed(1).padStart(8)} MiB ${Math.round(performance.now() - startMs)} ms`,
  )
  startMs = performance.now()
  decodeSnapshot(bench.rooms.lastEntry, bytes)
  console.log(
    `${'ms to read it, hash compared'.padEnd(52)} ${Math.round(performance.now() - startMs)
      .toString()
      .padStart(8)}`,
  )
}

time('16 partitions, 1 batch each', 16, 1)
time('16 partitions, 8 batches each', 16, 8)
time('1 partition, 1 batch', 1, 1)
memory()
