/**
 * Append to commit on a folder, in one process and without a socket: `node bench/wal.ts [--seconds 3] [--no-fsync] [--inline-bytes 8388608]`.
 * Prints MB/s, commits/s, latency and CPU seconds per GB for batches of 16 KiB and 1 MiB at several requests in flight.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Registry } from 'prom-client'
import { BatchBuilder } from '../protocol/records/build.ts'
import { readBatchHeader } from '../protocol/records/header.ts'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/log.ts'
import { FolderLog } from '../src/metadata/logs/folderLog.ts'
import { openMetadata } from '../src/metadata/open.ts'
import { FolderStore } from '../src/storage/folder.ts'
import { WalSequences } from '../src/wal/sequences.ts'
import { WriteAheadLog } from '../src/wal/wal.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    'no-fsync': { type: 'boolean', default: false },
    'inline-bytes': { type: 'string', default: String(8 << 20) },
    'linger-ms': { type: 'string', default: '5' },
    folder: { type: 'string', default: tmpdir() },
  },
})
const PARTITIONS = 16

function batchOf(valueBytes: number, count: number): Buffer {
  const builder = new BatchBuilder()
  const value = randomBytes(valueBytes)
  for (let i = 0; i < count; i++) builder.append(i, 1_700_000_000_000, null, 0, 0, value, 0, value.length)
  return Buffer.from(builder.finish())
}

async function run(count: number, inFlight: number): Promise<void> {
  const folder = mkdtempSync(path.join(values.folder, 'frazil-bench-'))
  const store = new FolderStore({ path: folder, fsync: !values['no-fsync'] })
  await store.open()
  const log = new FolderLog({ store, podName: 'bench', attachmentMaxBytes: Math.max(1 << 20, Number(values['inline-bytes'])) })
  const metadata = await openMetadata({
    log,
    clock: systemClock,
    logger: silentLogger,
    registry: new Registry(),
    pod: 'bench',
    random: (bytes) => randomBytes(bytes),
  })
  const created = await metadata.propose({
    kind: 'createTopic',
    name: 'bench',
    topicId: '00000000-0000-4000-8000-000000000001',
    partitions: PARTITIONS,
    configs: {},
    table: { namespace: 'default', name: 'bench', uuid: '00000000-0000-4000-8000-000000000002' },
  })
  const topic = created.kind === 'topic' ? created.topic : 0
  const wal = new WriteAheadLog({
    store,
    metadata,
    clock: systemClock,
    logger: silentLogger,
    registry: new Registry(),
    sequences: new WalSequences(metadata),
    lingerMs: Number(values['linger-ms']),
    inlineMaxBytes: Number(values['inline-bytes']),
  })
  const sample = batchOf(1024, count)
  const header = readBatchHeader(sample)
  const latencies: number[] = []
  let sizeBytes = 0
  const startMs = performance.now()
  const endMs = startMs + Number(values.seconds) * 1000
  const cpu = process.cpuUsage()
  const firstEntry = metadata.state.lastEntry
  const worker = async (id: number): Promise<void> => {
    for (let i = id; performance.now() < endMs; i++) {
      // What a socket does: a frame of its own for every request.
      const bytes = Buffer.from(sample)
      const sentMs = performance.now()
      const batch = {
        bytes,
        offsetCount: count,
        maxTimestampMs: header.maxTimestampMs,
        producerId: -1,
        producerEpoch: -1,
        baseSequence: -1,
        appendTimeMs: -1,
      }
      await wal.append([{ topic, partition: i % PARTITIONS, batch }])
      latencies.push(performance.now() - sentMs)
      sizeBytes += bytes.length
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, id) => worker(id)))
  const seconds = (performance.now() - startMs) / 1000
  const used = process.cpuUsage(cpu)
  latencies.sort((a, b) => a - b)
  const at = (share: number): string => latencies[Math.floor(latencies.length * share)].toFixed(2)
  console.log(
    `${String(sample.length).padStart(8)} B × ${String(inFlight).padStart(3)}  ${(sizeBytes / 1e6 / seconds).toFixed(0).padStart(5)} MB/s` +
      `  ${((metadata.state.lastEntry - firstEntry) / seconds).toFixed(0).padStart(5)} entries/s  p50 ${at(0.5)} ms  p99 ${at(0.99)} ms` +
      `  ${((used.user + used.system) / 1e6 / (sizeBytes / 1e9)).toFixed(2)} CPU s/GB`,
  )
  await wal.close()
  await metadata.close()
  await store.close()
  rmSync(folder, { recursive: true })
}

for (const count of [1, 15, 1000]) for (const inFlight of [1, 5, 20]) await run(count, inFlight)
