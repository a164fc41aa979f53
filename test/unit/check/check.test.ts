import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { loadSettings } from '../../../src/base/config/load.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { checkCluster } from '../../../src/check/check.ts'
import type { Report } from '../../../src/check/report.ts'
import { openBroker } from '../../../src/wiring/broker.ts'
import { FolderLog } from '../../../src/metadata/logs/folderLog.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { FolderStore } from '../../../src/storage/folder.ts'
import { FileTableReader } from '../../../src/tables/readback/reader.ts'
import { topicCommand } from '../metadata/helpers.ts'
import { until, valueBatch } from '../tables/harness.ts'

const home = mkdtempSync(join(tmpdir(), 'frazil-check-'))
const original = join(home, 'original')
let copies = 0

/** One topic in a table, one in objects of the write-ahead log, two snapshots of the metadata. */
beforeAll(async () => {
  const flags = [
    '--store',
    `file:${original}`,
    '--pod',
    'test',
    '--fsync',
    'false',
    '--wal-inline-max-bytes',
    '0',
    '--convert-workers',
    '1',
  ]
  const broker = await openBroker({
    settings: loadSettings(flags, {}, () => null),
    clock: systemClock,
    logger: silentLogger,
    registry: new Registry(),
    endpoint: () => ({ host: '127.0.0.1', port: 9092 }),
    queuedBytes: () => 0,
    onStop: () => {},
  })
  const { metadata, log } = broker.parts
  const topics: number[] = []
  for (const name of ['tabled', 'waiting']) {
    const made = await metadata.propose(topicCommand(name, 2))
    if (made.kind !== 'topic') throw new Error(JSON.stringify(made))
    topics.push(made.topic)
    for (let i = 0; i < 3; i++)
      for (const partition of [0, 1]) await log.append([{ topic: made.topic, partition, batch: valueBatch([`${i}a`, `${i}b`]) }])
    if (name !== 'tabled') continue
    await broker.parts.convertTopic(made.topic)
    await until(() => metadata.state.table(made.topic)!.publication > 0, 'the publication')
  }
  await (metadata as MetadataEngine).snapshot()
  await metadata.propose({ kind: 'allocateProducerIds', count: 1 })
  await (metadata as MetadataEngine).snapshot()
  await broker.close()
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const filesOf = (folder: string, pattern: RegExp): string[] =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => join(folder, name))

/** Checks a copy after `damage` was done to it. */
async function checked(
  damage: (folder: string) => void,
  options: { repair?: boolean; folder?: string } = {},
): Promise<Report & { folder: string }> {
  const folder = options.folder ?? join(home, `copy-${++copies}`)
  if (options.folder === undefined) cpSync(original, folder, { recursive: true })
  damage(folder)
  const store = new FolderStore({ path: folder, fsync: false })
  await store.open()
  const log = new FolderLog({ store, podName: 'check', lockWaitMs: 0, makeAhead: false })
  const reader = new FileTableReader({ store, clock: systemClock, registry: new Registry(), cacheBytes: 16 << 20, workers: 1 })
  try {
    await log.open()
    const report = await checkCluster({ store, log, logger: silentLogger, reader: () => reader, repair: options.repair ?? false })
    return Object.assign(report, { folder })
  } finally {
    await reader.close()
    await log.close()
    await store.close()
  }
}

const flip = (path: string, at: number): void => {
  const bytes = readFileSync(path)
  bytes[at < 0 ? bytes.length + at : at] ^= 0x10
  writeFileSync(path, bytes)
}
const sentences = ({ findings }: Report): string => findings.map(({ kind, sentence }) => `${kind}: ${sentence}`).join('\n')

describe('frazil check', () => {
  it('finds nothing wrong with what a broker wrote, and says what it looked at', async () => {
    const report = await checked(() => {})
    expect(sentences(report)).toBe('')
    expect(report.whole).toBe(true)
    expect(Object.fromEntries(report.counts)).toMatchObject({
      partitions: 4,
      'metadata snapshots': 2,
      'table files': 1,
      rows: 12,
      tables: 2,
      batches: 6,
    })
  })

  it.each([
    ['a WAL object is gone', (f: string) => unlinkSync(filesOf(f, /\.wal$/).at(-1)!), /\.wal: .*records of waiting-[01] are in it/],
    ['a WAL object is cut', (f: string) => truncateSync(filesOf(f, /\.wal$/).at(-1)!, 100), /it has 100 bytes, it should have/],
    [
      'a record in the WAL is damaged',
      (f: string) => flip(filesOf(f, /\.wal$/).at(-1)!, 24 + 70),
      /offset 4 of waiting-1, fails its checksum/,
    ],
    [
      'the index of a WAL object is damaged',
      (f: string) => flip(filesOf(f, /\.wal$/).at(-1)!, -30),
      /\.wal: the index .* fails its checksum/,
    ],
    ['a table file is gone', (f: string) => unlinkSync(filesOf(f, /\.parquet$/)[0]), /\.parquet: the file is gone/],
    ['a table file is cut', (f: string) => truncateSync(filesOf(f, /\.parquet$/)[0], 50), /the file has 50 bytes/],
    ['a row is damaged', (f: string) => flip(filesOf(f, /\.parquet$/)[0], 200), /\.parquet: /],
    ['a manifest is gone', (f: string) => unlinkSync(filesOf(f, /-m0\.avro$/)[0]), /metadata\.json: /],
    ['table metadata is gone', (f: string) => unlinkSync(filesOf(f, /metadata\.json$/)[0]), /metadata\.json: /],
  ] as const)('tells when %s, and goes on', async (_, damage, wanted) => {
    const report = await checked(damage)
    expect(report.whole).toBe(false)
    expect(sentences(report)).toMatch(wanted)
    expect(report.findings.every(({ sentence }) => !sentence.includes('\n'))).toBe(true)
    expect(report.counts.get('tables')).toBe(2)
  })

  it('a damaged snapshot is told, written anew only when asked, and the same as it was', async () => {
    const newest = (folder: string): string => filesOf(folder, /\.snap$/).at(-1)!
    const was = readFileSync(newest(original))
    const report = await checked((folder) => flip(newest(folder), 40))
    expect(sentences(report)).toMatch(/lost: .*snapshot.*damaged.*--repair/)
    expect(readFileSync(newest(report.folder)).equals(was)).toBe(false)
    const repaired = await checked(() => {}, { folder: report.folder, repair: true })
    expect(sentences(repaired)).toMatch(/repaired: metadata snapshot \d+ was written anew/)
    expect(readFileSync(newest(report.folder)).equals(was)).toBe(true)
    expect((await checked(() => {}, { folder: report.folder })).whole).toBe(true)
    // The oldest has nothing before it that proves what it was.
    const oldest = await checked((folder) => flip(filesOf(folder, /\.snap$/)[0], 40), { repair: true })
    expect(sentences(oldest)).toMatch(/cannot be written anew/)
  })

  it('names what is left over and deletes nothing; refuses a place without a cluster', async () => {
    const report = await checked((folder) => {
      const [object] = filesOf(folder, /\.wal$/)
      cpSync(object, join(object, '..', '000000000999.wal'))
    })
    expect(report.whole).toBe(true)
    expect(report.counts.get('objects that no entry names (a pod deletes them)')).toBeGreaterThan(0)
    expect(filesOf(report.folder, /999\.wal$/)).toHaveLength(1)
    await expect(checked(() => {}, { folder: join(home, 'nothing') })).rejects.toMatchObject({ code: 'REFUSED' })
  })
})
