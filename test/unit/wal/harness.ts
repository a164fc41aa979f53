import { Registry } from 'prom-client'
import type { Clock, Timer } from '../../../src/base/clock.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import type { WalBatch } from '../../../src/wal/port.ts'
import { WalSequences } from '../../../src/wal/sequences.ts'
import { WriteAheadLog, type WalOptions } from '../../../src/wal/wal.ts'
import { batchCrc, readBatchHeader } from '../../../protocol/records/header.ts'
import { setInt16, setInt32, setInt64 } from '../../../protocol/records/bytes.ts'
import { BatchBuilder } from '../../../protocol/records/build.ts'
import { createTopic, open } from '../metadata/helpers.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'
import { TestStore } from './testStore.ts'

/** A clock that moves only when told to. */
export class ManualClock implements Clock {
  nowMs = 1_700_000_000_000
  #timers: { atMs: number; fn: () => void }[] = []
  wallMs(): number {
    return this.nowMs
  }
  monotonicMs(): number {
    return this.nowMs
  }
  timer(delayMs: number, fn: () => void): Timer {
    const timer = { atMs: this.nowMs + delayMs, fn }
    this.#timers.push(timer)
    return { cancel: () => (this.#timers = this.#timers.filter((one) => one !== timer)) }
  }
  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const timer = this.timer(delayMs, resolve)
      signal?.addEventListener('abort', () => {
        timer.cancel()
        resolve()
      })
    })
  }
  get timers(): number {
    return this.#timers.length
  }
  async advance(ms: number): Promise<void> {
    this.nowMs += ms
    const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs)
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.nowMs)
    for (const { fn } of due) fn()
    await settle()
  }
}

/** Lets everything that can run without time passing run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve))
}

export interface World {
  readonly log: MemoryLog
  readonly store: TestStore
  readonly clock: ManualClock
  readonly engine: MetadataEngine
  readonly sequences: WalSequences
  readonly wal: WriteAheadLog
  /** Number of a topic with four partitions. */
  readonly topic: number
  /** Timers that the engine keeps. */
  readonly idleTimers: number
}

/** A WAL over the real state machine; `inlineMaxBytes` 0: every buffer becomes an object. */
export async function world(
  options: Partial<WalOptions> & { log?: MemoryLog; store?: TestStore; topicName?: string; level?: number } = {},
): Promise<World> {
  const log = options.log ?? new MemoryLog()
  const store = options.store ?? new TestStore()
  const clock = new ManualClock()
  const engine = await open(log, { clock, level: options.level ?? 1 })
  const topic = engine.state.topicByName('a')?.topic ?? (await createTopic(engine, 'a', 4))
  const sequences = new WalSequences(engine)
  const wal = new WriteAheadLog({
    metadata: engine,
    clock,
    logger: silentLogger,
    registry: new Registry(),
    sequences,
    lingerMs: 5,
    inlineMaxBytes: 0,
    ...options,
    store,
  })
  return { log, store, clock, engine, sequences, wal, topic, idleTimers: clock.timers }
}

export interface BatchSpec {
  readonly count?: number
  readonly valueBytes?: number
  readonly timestampsMs?: readonly number[]
  readonly producerId?: number
  readonly epoch?: number
  readonly sequence?: number
  readonly codec?: number
  /** Distinguishes the bytes of values. */
  readonly fill?: number
}

/** A batch as a producer sends it: base offset 0. */
export function batchBytes(spec: BatchSpec = {}): Uint8Array {
  const times = spec.timestampsMs ?? Array.from({ length: spec.count ?? 1 }, (_, i) => 1000 + i)
  const builder = new BatchBuilder({ codec: spec.codec ?? 0 })
  const value = new Uint8Array(spec.valueBytes ?? 10).fill(spec.fill ?? 1)
  times.forEach((timeMs, i) => builder.append(i, timeMs, null, 0, 0, value, 0, value.length))
  const batch = builder.finish()
  if (spec.producerId !== undefined) {
    setInt64(batch, 43, spec.producerId)
    setInt16(batch, 51, spec.epoch ?? 0)
    setInt32(batch, 53, spec.sequence ?? 0)
    setInt32(batch, 17, batchCrc(batch))
  }
  return batch
}

export function walBatch(spec: BatchSpec = {}, bytes = batchBytes(spec)): WalBatch {
  const header = readBatchHeader(bytes)
  return {
    bytes,
    offsetCount: header.lastOffsetDelta + 1,
    maxTimestampMs: header.maxTimestampMs,
    producerId: header.producerId,
    producerEpoch: header.producerEpoch,
    baseSequence: header.baseSequence,
    appendTimeMs: -1,
  }
}

/** Base offsets of the batches in a run of bytes. */
export function baseOffsets(bytes: Uint8Array): number[] {
  const offsets: number[] = []
  for (let at = 0; at < bytes.length;) {
    const header = readBatchHeader(bytes, at)
    offsets.push(header.baseOffset)
    at += header.sizeBytes
  }
  return offsets
}
