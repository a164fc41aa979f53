import { Registry } from 'prom-client'
import { BatchBuilder } from '../../../protocol/records/build.ts'
import { BATCH_HEADER_BYTES, readBatchHeader } from '../../../protocol/records/header.ts'
import { RecordCursor } from '../../../protocol/records/walk.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { PartitionLog, type PartitionLogOptions } from '../../../src/log/log.ts'
import type { FetchedPartition, FetchPartition, LoadingRows, TableReader } from '../../../src/log/port.ts'
import type { MarkerExtent, TableFile, WalExtent } from '../../../src/metadata/view.ts'
import { batchBytes, settle, walBatch, world, type BatchSpec, type World } from '../wal/harness.ts'

interface Row {
  readonly offset: number
  readonly timestampMs: number
  readonly value: Uint8Array
}

/** Table files as rows in memory; a file's batches hold at most `batchRows` rows. */
export class FakeTables implements TableReader {
  readonly rows = new Map<string, Map<number, Row[]>>()
  batchRows = 3
  reads = 0
  before: () => Promise<void> | void = () => {}

  async read({ files, partition, fromOffset, lastOffset, maxBytes }: Parameters<TableReader['read']>[0]): ReturnType<TableReader['read']> {
    this.reads++
    await this.before()
    const rows = this.#rows(files, partition).filter(({ offset }) => offset >= fromOffset && offset <= lastOffset)
    const batches: Uint8Array[] = []
    let sizeBytes = 0
    let nextOffset = fromOffset
    for (let at = 0; at < rows.length; at += this.batchRows) {
      const builder = new BatchBuilder()
      const some = rows.slice(at, at + this.batchRows)
      for (const { offset, timestampMs, value } of some) builder.append(offset, timestampMs, null, 0, 0, value, 0, value.length)
      const batch = builder.finish()
      if (batches.length > 0 && sizeBytes + batch.length > maxBytes) return { batches, nextOffset }
      batches.push(batch)
      sizeBytes += batch.length
      nextOffset = some.at(-1)!.offset + 1
    }
    return { batches, nextOffset: lastOffset + 1 }
  }

  /** What `readNow` says of a partition that is not in memory; `read` has it when left out. */
  loading = new Map<number, LoadingRows>()
  readNow({ partition }: Parameters<TableReader['readNow']>[0]): LoadingRows | null {
    return this.loading.get(partition) ?? null
  }

  async findByTime({
    files,
    partition,
    fromOffset,
    timestampMs,
  }: Parameters<TableReader['findByTime']>[0]): ReturnType<TableReader['findByTime']> {
    const row = this.#rows(files, partition).find((one) => one.offset >= fromOffset && one.timestampMs >= timestampMs)
    return row ? { offset: row.offset, timestampMs: row.timestampMs } : null
  }

  #rows(files: readonly TableFile[], partition: number): Row[] {
    return files.flatMap(({ key }) => this.rows.get(key)!.get(partition) ?? []).sort((a, b) => a.offset - b.offset)
  }
}

export interface LogWorld extends World {
  readonly tables: FakeTables
  readonly plog: PartitionLog
  append(partition: number, ...specs: BatchSpec[]): Promise<number>
  fetch(
    partitions: (Partial<FetchPartition> & { partition: number })[],
    options?: { minBytes?: number; maxBytes?: number; maxWaitMs?: number; signal?: AbortSignal },
  ): Promise<readonly FetchedPartition[]>
  /** Moves everything unconverted of a partition into one table file without the offsets that `drop` names. */
  convert(partition: number, drop?: (offset: number) => boolean): Promise<void>
}

let files = 0

export async function logWorld(
  options: Parameters<typeof world>[0] & { log2?: Partial<PartitionLogOptions>; tables?: FakeTables } = {},
): Promise<LogWorld> {
  const { log2, tables = new FakeTables(), ...walOptions } = options
  const w = await world(walOptions)
  const plog = new PartitionLog({
    metadata: w.engine,
    wal: w.wal,
    tables,
    clock: w.clock,
    logger: silentLogger,
    registry: new Registry(),
    ...log2,
  })
  const { topic, engine } = w

  async function append(partition: number, ...specs: BatchSpec[]): Promise<number> {
    const answer = await plog.append(specs.map((spec) => ({ topic, partition, batch: walBatch(spec, batchBytes(spec)) })))
    return answer.batches[0].baseOffset
  }

  function fetch(
    partitions: (Partial<FetchPartition> & { partition: number })[],
    more: { minBytes?: number; maxBytes?: number; maxWaitMs?: number; signal?: AbortSignal } = {},
  ): Promise<readonly FetchedPartition[]> {
    return plog.fetch({
      partitions: partitions.map((one) => ({ topic, fetchOffset: 0, maxBytes: 1 << 20, ...one })),
      minBytes: 1,
      maxBytes: 1 << 24,
      maxWaitMs: 0,
      signal: new AbortController().signal,
      ...more,
    })
  }

  async function convert(partition: number, drop: (offset: number) => boolean = () => false): Promise<void> {
    const firstOffset = engine.state.firstUnconverted(topic, partition)
    const lastOffset = engine.state.partition(topic, partition)!.endOffset - 1
    if (firstOffset > lastOffset) return
    const rows: Row[] = []
    let originalBytes = 0
    for (const extent of Array.from(engine.state.extents(topic, partition, firstOffset) as Iterable<WalExtent | MarkerExtent>)) {
      if (extent.kind === 'marker') continue
      originalBytes += extent.sizeBytes
      rows.push(...rowsOf(await w.wal.read(extent.object, extent.byteOffset, extent.sizeBytes), extent.firstOffset))
    }
    const kept = rows.filter(({ offset }) => !drop(offset))
    const key = `tables/file-${++files}.parquet`
    tables.rows.set(key, new Map([[partition, kept]]))
    const maxTimestampMs = Math.max(-1, ...kept.map(({ timestampMs }) => timestampMs))
    const range = { partition, firstOffset, lastOffset, rows: kept.length, maxTimestampMs, originalBytes }
    const table = engine.state.table(topic)!
    const result = await engine.propose({
      kind: 'commitTable',
      topic,
      expectedVersion: table.version,
      metadataKey: `tables/meta-${files}`,
      publication: table.publication + 1,
      snapshotId: files,
      converted: [{ partition, firstOffset, lastOffset }],
      added: [{ key, sizeBytes: 1000, rows: kept.length, level: 0, ranges: [range] }],
      removed: [],
      obsolete: [],
      dataTimeMs: 0,
    })
    if (result.kind !== 'table' || !result.accepted) throw new Error(JSON.stringify(result))
    await settle()
  }

  return { ...w, tables, plog, append, fetch, convert }
}

export function rowsOf(bytes: Uint8Array, firstOffset: number): Row[] {
  const rows: Row[] = []
  let baseOffset = firstOffset
  for (let at = 0; at < bytes.length;) {
    const header = readBatchHeader(bytes, at)
    const cursor = new RecordCursor().reset(bytes, at + BATCH_HEADER_BYTES, at + header.sizeBytes, header.count)
    while (cursor.next()) {
      const offset = baseOffset + cursor.offsetDelta
      rows.push({
        offset,
        timestampMs: header.baseTimestampMs + cursor.timestampDeltaMs,
        value: bytes.slice(cursor.valueStart, cursor.valueEnd),
      })
    }
    baseOffset += header.lastOffsetDelta + 1
    at += header.sizeBytes
  }
  return rows
}

/** Offsets of all records of a fetched partition, from the base offsets that were served. */
export function offsets(fetched: FetchedPartition): number[] {
  return fetched.records.flatMap((bytes) => {
    const found: number[] = []
    for (let at = 0; at < bytes.length;) {
      const { baseOffset, sizeBytes } = readBatchHeader(bytes, at)
      found.push(...rowsOf(bytes.subarray(at, at + sizeBytes), baseOffset).map(({ offset }) => offset))
      at += sizeBytes
    }
    return found
  })
}
