/**
 * Fetch from the WAL in one process and without a socket: `node bench/fetch.ts [--mib 256]`. Produces batches of 16 KiB and
 * 1 MiB to 16 partitions of a folder, then reads all of it from the memory cache and, with empty caches, from WAL objects.
 * Prints MB/s and CPU seconds per GB.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { Registry } from 'prom-client'
import { BatchBuilder } from '../protocol/records/build.ts'
import { batchLastOffset, batchSizeBytes } from '../protocol/records/header.ts'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/log.ts'
import { PartitionLog } from '../src/log/log.ts'
import type { TableReader } from '../src/log/port.ts'
import { FolderLog } from '../src/metadata/logs/folderLog.ts'
import { openMetadata } from '../src/metadata/open.ts'
import { FolderStore } from '../src/storage/folder.ts'
import { WalSequences } from '../src/wal/sequences.ts'
import { WriteAheadLog } from '../src/wal/wal.ts'

const { values } = parseArgs({
  options: { mib: { type: 'string', default: '256' }, 'inline-bytes': { type: 'string', default: String(1 << 20) } },
})
const PARTITIONS = 16
const IN_FLIGHT = 20
const noTables: TableReader = {
  readNow: () => null,
  read: () => Promise.reject(new Error('nothing was converted')),
  findByTime: () => Promise.reject(new Error('nothing was converted')),
}

async function run(count: number): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'frazil-bench-'))
  const store = new FolderStore({ path: folder, fsync: false })
  await store.open()
  const log = new FolderLog({ store, podName: 'bench', attachmentMaxBytes: Number(values['inline-bytes']) })
  const clock = systemClock
  const logger = silentLogger
  const metadata = await openMetadata({ log, clock, logger, registry: new Registry(), pod: 'bench', random: (bytes) => randomBytes(bytes) })
  const created = await metadata.propose({
    kind: 'createTopic',
    name: 'bench',
    topicId: '00000000-0000-4000-8000-000000000001',
    partitions: PARTITIONS,
    configs: {},
    table: { namespace: 'default', name: 'bench', uuid: '00000000-0000-4000-8000-000000000002' },
  })
  const topic = created.kind === 'topic' ? created.topic : 0
  const open = (hotCacheBytes: number): { wal: WriteAheadLog; plog: PartitionLog } => {
    const sequences = new WalSequences(metadata)
    const inlineMaxBytes = Number(values['inline-bytes'])
    const wal = new WriteAheadLog({
      store,
      metadata,
      clock,
      logger,
      registry: new Registry(),
      sequences,
      lingerMs: 5,
      inlineMaxBytes,
      hotCacheBytes,
    })
    const backlogBytes = Number.MAX_SAFE_INTEGER
    return { wal, plog: new PartitionLog({ metadata, wal, tables: noTables, clock, logger, registry: new Registry(), backlogBytes }) }
  }
  const hot = open(Number.MAX_SAFE_INTEGER)
  const builder = new BatchBuilder()
  const value = randomBytes(1024)
  for (let i = 0; i < count; i++) builder.append(i, 1_700_000_000_000, null, 0, 0, value, 0, value.length)
  const sample = builder.finish()
  let left = Math.ceil((Number(values.mib) << 20) / sample.length)
  const producer = async (id: number): Promise<void> => {
    for (let i = id; left-- > 0; i++) {
      const batch = {
        bytes: new Uint8Array(sample),
        offsetCount: count,
        maxTimestampMs: 1,
        producerId: -1,
        producerEpoch: -1,
        baseSequence: -1,
        appendTimeMs: -1,
      }
      await hot.wal.append([{ topic, partition: i % PARTITIONS, batch }])
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, (_, id) => producer(id)))

  const cold = open(0)
  for (const [name, plog] of [
    ['memory', hot.plog],
    ['WAL objects', cold.plog],
  ] as const) {
    const positions = Array.from({ length: PARTITIONS }, () => 0)
    const startMs = performance.now()
    const cpu = process.cpuUsage()
    let sizeBytes = 0
    let fetches = 0
    for (let got = 1; got > 0; fetches++) {
      got = 0
      const partitions = positions.map((fetchOffset, partition) => ({ topic, partition, fetchOffset, maxBytes: 1 << 20 }))
      const fetched = await plog.fetch({ partitions, minBytes: 1, maxBytes: 50 << 20, maxWaitMs: 0, signal: new AbortController().signal })
      fetched.forEach(({ records, sizeBytes: bytes }, p) => {
        got += bytes
        const last = records.at(-1)
        if (last === undefined) return
        let at = 0
        while (at + batchSizeBytes(last, at) < last.length) at += batchSizeBytes(last, at)
        positions[p] = batchLastOffset(last, at) + 1
      })
      sizeBytes += got
    }
    const seconds = (performance.now() - startMs) / 1000
    const used = process.cpuUsage(cpu)
    const cpuPerGb = (used.user + used.system) / 1e6 / (sizeBytes / 1e9)
    console.log(
      `${String(sample.length).padStart(8)} B from ${name.padEnd(11)} ${(sizeBytes / 1e6).toFixed(0)} MB in ${fetches} fetches  ` +
        `${(sizeBytes / 1e6 / seconds).toFixed(0).padStart(6)} MB/s  ${cpuPerGb.toFixed(3)} CPU s/GB`,
    )
  }
  await hot.wal.close()
  await cold.wal.close()
  await metadata.close()
  await store.close()
  rmSync(folder, { recursive: true })
}

for (const count of [15, 1000]) await run(count)
