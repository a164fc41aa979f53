import type { Registry } from 'prom-client'
import { patchBatch } from '../../protocol/records/header.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { WalExtent } from '../metadata/view.ts'
import type { ObjectStore } from '../storage/store.ts'
import { HotCache } from './cache.ts'
import { ColdReader, type PeerRead } from './coldReader.ts'
import { walMetrics } from './metrics.ts'
import type { AppendedBatch, CachedBatches, LocatedBatches, Wal } from './port.ts'
import { WalSequences } from './sequences.ts'
import { WalWriter, type CommittedBatch } from './writer.ts'

export interface WalOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Shared with the evacuator, which writes objects too. */
  readonly sequences: WalSequences
  /** `--wal-linger-ms`: 5 on a folder, 100 on S3. */
  readonly lingerMs: number
  /** `--wal-max-bytes`; 8 MiB when left out. */
  readonly maxBytes?: number
  /** Buffers up to this size ride inside their entry; 512 KiB when left out, never over what the log can carry. */
  readonly inlineMaxBytes?: number
  /** Closed buffers in flight; 4 when left out. */
  readonly maxInFlight?: number
  /** Memory for recent objects; 64 MiB when left out. */
  readonly hotCacheBytes?: number
  /** Memory for objects read back whole; half as much again for ranges. 64 MiB when left out. */
  readonly coldCacheBytes?: number
  /** What the pod of another incarnation has of an object in memory; null when it has not, or is too slow. Absent: nobody is asked. */
  readonly fromPeer?: PeerRead
  /** `--wal-grace-ms`; 60000 when left out. */
  readonly graceMs?: number
  /** Collects the requests of one turn of the event loop; setImmediate when left out. */
  readonly defer?: (fn: () => void) => void
}

const MIB = 1024 * 1024

/** The WAL of one process: writer, cache of recent commits, and reader of everything older. */
export class WriteAheadLog implements Wal {
  readonly #metadata: Metadata
  readonly #writer: WalWriter
  readonly #hot: HotCache
  readonly #cold: ColdReader
  readonly #hits: { inc(labels: { cache: string }): void }

  constructor(options: WalOptions) {
    const { metadata, registry } = options
    this.#metadata = metadata
    this.#hot = new HotCache({ maxBytes: options.hotCacheBytes ?? 64 * MIB })
    this.#cold = new ColdReader({
      store: options.store,
      metadata,
      cacheBytes: options.coldCacheBytes ?? 64 * MIB,
      fromPeer: options.fromPeer,
    })
    const metrics = walMetrics(registry, metadata, this.#hot)
    this.#hits = metrics.reads
    this.#writer = new WalWriter({
      ...options,
      sequences: options.sequences,
      maxBytes: options.maxBytes ?? 8 * MIB,
      inlineMaxBytes: Math.min(options.inlineMaxBytes ?? MIB / 2, metadata.attachmentMaxBytes),
      maxInFlight: options.maxInFlight ?? 4,
      unknownRetries: 4,
      unknownRetryMs: 50,
      graceMs: options.graceMs ?? 60_000,
      defer: options.defer ?? setImmediate,
      committed: (object, batches) => this.#committed(object, batches),
      observe: metrics.observeCommit,
    })
  }

  append(items: Parameters<Wal['append']>[0]): Promise<readonly AppendedBatch[]> {
    return this.#writer.append(items)
  }

  async read(object: number, byteOffset: number, sizeBytes: number, options?: { readonly whole?: boolean }): Promise<Uint8Array> {
    const cached = this.cached(object, byteOffset, sizeBytes)
    this.#hits.inc({ cache: cached === null ? 'miss' : 'hit' })
    return cached ?? this.#cold.read(object, byteOffset, sizeBytes, options?.whole === true, options?.whole === true ? 'convert' : 'fetch')
  }

  cached(object: number, byteOffset: number, sizeBytes: number): Uint8Array | null {
    const found = this.#hot.find(object, byteOffset, sizeBytes)
    if (found === null) return null
    if (found.to - found.from === 1) return found.batches[found.from]
    return Buffer.concat(found.batches.slice(found.from, found.to), sizeBytes)
  }

  cachedBatches(object: number, byteOffset: number, sizeBytes: number): CachedBatches | null {
    const found = this.#hot.find(object, byteOffset, sizeBytes)
    if (found !== null) this.#hits.inc({ cache: 'hit' })
    return found
  }

  copyCached({ object, byteOffset, sizeBytes }: WalExtent, target: Uint8Array, at: number): boolean {
    const found = this.#hot.copy(object, byteOffset, sizeBytes, target, at)
    if (found) this.#hits.inc({ cache: 'hit' })
    return found
  }

  readFrom(extent: WalExtent, offset: number, maxBytes: number): Promise<LocatedBatches> {
    this.#hits.inc({ cache: 'miss' })
    return this.#cold.readFrom(extent, offset, maxBytes)
  }

  /** See WalWriter.inTurn; for the evacuator. */
  inTurn(propose: () => void): void {
    this.#writer.inTurn(propose)
  }

  close(): Promise<void> {
    return this.#writer.close()
  }

  /** Patches the committed batches where they lie and keeps them, so that a fetch serves them as they are. */
  #committed(object: number, batches: readonly CommittedBatch[]): void {
    if (batches.length === 0) return
    const { state } = this.#metadata
    for (const { item, baseOffset } of batches) {
      patchBatch(item.batch.bytes, 0, baseOffset, state.partition(item.topic, item.partition)?.leaderEpoch ?? 0)
    }
    this.#hot.put(
      object,
      batches.map(({ item }) => item.batch.bytes),
      batches.map(({ item }) => item.byteOffset),
    )
  }
}
