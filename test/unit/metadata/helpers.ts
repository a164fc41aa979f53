import { Registry } from 'prom-client'
import { systemClock, type Clock } from '../../../src/base/clock.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { Command, CommitWal, CreateTopic, Result, WalPart } from '../../../src/metadata/commands.ts'
import type { EntryLog } from '../../../src/metadata/entryLog.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { type OpenOptions, openMetadata } from '../../../src/metadata/open.ts'
import { MemoryLog } from './memoryLog.ts'

export class FakeClock implements Clock {
  nowMs = 1_700_000_000_000
  wallMs(): number {
    return this.nowMs
  }
  monotonicMs(): number {
    return this.nowMs
  }
  timer = systemClock.timer
  /** Sleeps take no time but let others run. */
  sleep(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }
}

let seed = 1
export function testRandom(bytes: number): Uint8Array {
  const out = new Uint8Array(bytes)
  for (let i = 0; i < bytes; i++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    out[i] = seed >>> 24
  }
  return out
}

export function open(log: EntryLog = new MemoryLog(), more: Partial<OpenOptions> = {}): Promise<MetadataEngine> {
  return openMetadata({
    log,
    clock: new FakeClock(),
    logger: silentLogger,
    registry: new Registry(),
    pod: 'pod-a',
    random: testRandom,
    // kinds of a later level need `level: SUPPORTED_LEVEL`
    level: 1,
    ...more,
  })
}

export function topicCommand(name: string, partitions = 2, more: Partial<CreateTopic> = {}): Command {
  const id = Buffer.from(testRandom(16)).toString('hex')
  const uuid = `${id.slice(0, 8)}-${id.slice(8, 12)}-4${id.slice(13, 16)}-8${id.slice(17, 20)}-${id.slice(20)}`
  return {
    kind: 'createTopic',
    name,
    topicId: uuid,
    partitions,
    configs: {},
    table: { namespace: 'default', name, uuid: uuid.replace('-4', '-5') },
    ...more,
  }
}

export async function createTopic(engine: MetadataEngine, name: string, partitions = 2): Promise<number> {
  const result = await engine.propose(topicCommand(name, partitions))
  if (result.kind !== 'topic') throw new Error(JSON.stringify(result))
  return result.topic
}

export interface TestBatch {
  readonly count?: number
  readonly bytes?: number
  readonly maxTimestampMs?: number
  readonly producerId?: number
  readonly epoch?: number
  readonly sequence?: number
  readonly appendTimeMs?: number
  /** TXN_…; TXN_NONE when left out. */
  readonly transaction?: number
}

export function part(topic: number, partition: number, byteOffset: number, ...batches: TestBatch[]): WalPart {
  return {
    topic,
    partition,
    byteOffset,
    sizesBytes: batches.map((b) => b.bytes ?? 100),
    offsetCounts: batches.map((b) => b.count ?? 1),
    maxTimestampsMs: batches.map((b) => b.maxTimestampMs ?? 1000),
    producerIds: batches.map((b) => b.producerId ?? -1),
    producerEpochs: batches.map((b) => b.epoch ?? (b.producerId === undefined ? -1 : 0)),
    baseSequences: batches.map((b) => b.sequence ?? -1),
    appendTimesMs: batches.map((b) => b.appendTimeMs ?? -1),
    transactions: batches.some((b) => b.transaction !== undefined) ? batches.map((b) => b.transaction ?? 0) : [],
  }
}

const sequences = new WeakMap<MetadataEngine, number>()
export function nextWalSequence(engine: MetadataEngine): number {
  const next = (sequences.get(engine) ?? engine.state.incarnation(engine.incarnation)!.lastWalSequence) + 1
  sequences.set(engine, next)
  return next
}

export function walCommand(engine: MetadataEngine, parts: readonly WalPart[], more: Partial<CommitWal> = {}): Command {
  const sizeBytes = Math.max(1, ...parts.map((p) => p.byteOffset + p.sizesBytes.reduce((a, b) => a + b, 0)))
  const walSequence = nextWalSequence(engine)
  return { kind: 'commitWal', key: `wal/0/${engine.incarnation}/${walSequence}.wal`, sizeBytes, walSequence, parts, ...more }
}

export type WalResult = Extract<Result, { kind: 'wal' }>

export async function commit(engine: MetadataEngine, ...parts: WalPart[]): Promise<WalResult> {
  const result = await engine.propose(walCommand(engine, parts))
  if (result.kind !== 'wal') throw new Error(JSON.stringify(result))
  return result
}
