import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { Errors } from '../../protocol/errors.ts'
import { FrazilError } from '../../src/base/errors.ts'
import { silentLogger } from '../../src/base/log.ts'
import { Deleter } from '../../src/wal/deleter.ts'
import { Evacuator } from '../../src/wal/evacuate.ts'
import { enqueueOrphans } from '../../src/wal/orphans.ts'
import { batchBytes, walBatch } from '../unit/wal/harness.ts'
import { FakeTables, logWorld, rowsOf, type LogWorld } from '../unit/log/harness.ts'
import { MemoryLog } from '../unit/metadata/memoryLog.ts'
import { TestStore } from '../unit/wal/testStore.ts'

/**
 * Idempotent producers, faults of store and log, kills, conversion, evacuation and deletion in random order, from a seed.
 * At the end every record that was acknowledged is there once, where it was acknowledged, in the order of its producer
 * (P1), from whatever place serves it by then.
 */

const PRODUCERS = 3
const PARTITIONS = 2
const STEPS = 500

function randomOf(seed: number): (below: number) => number {
  let state = seed * 2654435761
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Sent {
  readonly sequence: number
  readonly count: number
  acknowledged: number
}

class Producer {
  readonly sent: Sent[] = []
  #next = 0
  #unanswered: Sent[] = []
  #inFlight = 0
  readonly id: number
  readonly partition: number

  constructor(id: number) {
    this.id = id
    this.partition = id % PARTITIONS
  }

  get idle(): boolean {
    return this.#inFlight === 0 && this.#unanswered.length === 0
  }

  /** Sends the next batch, or after a failure all that is unanswered, in order, as clients do. */
  step(w: LogWorld, random: (below: number) => number, more: boolean): void {
    if (this.#inFlight === 0 && this.#unanswered.length > 0) {
      for (const batch of this.#unanswered) this.#send(w, batch)
    } else if (more && this.#inFlight === this.#unanswered.length && this.#inFlight < 5) {
      const batch = { sequence: this.#next, count: 1 + random(3), acknowledged: -1 }
      this.#next += batch.count
      this.sent.push(batch)
      this.#unanswered.push(batch)
      this.#send(w, batch)
    }
  }

  /** The connection is lost: what was in flight is unanswered. */
  disconnect(): void {
    this.#inFlight = 0
    this.#session++
  }
  #session = 0

  #send(w: LogWorld, batch: Sent): void {
    const session = this.#session
    const { sequence, count } = batch
    const bytes = batchBytes({ count, producerId: this.id, sequence, fill: sequence % 251, valueBytes: 20 + this.id })
    this.#inFlight++
    w.plog.append([{ topic: w.topic, partition: this.partition, batch: walBatch({}, bytes) }]).then(
      ({ batches: [answer] }) => {
        if (session !== this.#session) return
        this.#inFlight--
        if (answer.error !== Errors.NONE) return
        batch.acknowledged = answer.baseOffset
        this.#unanswered = this.#unanswered.filter((one) => one !== batch)
      },
      () => {
        if (session === this.#session) this.#inFlight--
      },
    )
  }
}

function breakThings(log: MemoryLog, store: TestStore, random: (below: number) => number, rate: () => number): void {
  const fault = (code: 'STORE_UNAVAILABLE' | 'STORE_UNKNOWN' | 'STORE_FULL' | 'LOG_UNAVAILABLE'): void => {
    if (random(1000) < rate()) throw new FrazilError(code, 'injected')
  }
  const pause = async (): Promise<void> => {
    for (let turns = random(6); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
  }
  store.before = async (request) => {
    await pause()
    if (request === 'put') fault(random(2) === 0 ? 'STORE_UNAVAILABLE' : 'STORE_FULL')
  }
  store.after = async (request) => {
    await pause()
    if (request === 'put') fault('STORE_UNKNOWN')
  }
  log.beforeAppend = async () => {
    await pause()
    fault(random(2) === 0 ? 'STORE_FULL' : 'LOG_UNAVAILABLE')
  }
  log.afterAppend = async () => {
    await pause()
    fault('LOG_UNAVAILABLE')
  }
}

async function readAll(w: LogWorld, partition: number): Promise<{ offset: number; value: Uint8Array }[]> {
  const rows: { offset: number; value: Uint8Array }[] = []
  for (let next = 0; ;) {
    const [fetched] = await w.fetch([{ partition, fetchOffset: next, maxBytes: 2000 }])
    expect(fetched.error).toBe(0)
    if (next === fetched.highWatermark) return rows
    expect(fetched.sizeBytes).toBeGreaterThan(0)
    for (const bytes of fetched.records) {
      for (let at = 0; at < bytes.length;) {
        const view = new DataView(bytes.buffer, bytes.byteOffset + at)
        const size = view.getInt32(8) + 12
        rows.push(...rowsOf(bytes.subarray(at, at + size), Number(view.getBigInt64(0))).filter(({ offset }) => offset >= next))
        at += size
      }
    }
    next = rows.at(-1)!.offset + 1
  }
}

/** How many records there were, and how often what happened. */
async function history(
  seed: number,
): Promise<{ records: number; kills: number; conversions: number; segments: number; deletions: number }> {
  const seen = { records: 0, kills: 0, conversions: 0, segments: 0, deletions: 0 }
  const random = randomOf(seed)
  const store = new TestStore()
  let log = new MemoryLog()
  let faults = 0
  const tables = new FakeTables()
  const options = {
    store,
    inlineMaxBytes: [0, 400, 1 << 20][random(3)],
    maxBytes: [200, 1000, 1 << 20][random(3)],
    hotCacheBytes: [0, 5000, 1 << 26][random(3)],
  }
  let w = await logWorld({ ...options, log, tables })
  const producers = Array.from({ length: PRODUCERS }, (_, i) => new Producer(i + 1))
  breakThings(log, store, random, () => faults)
  const background = async (): Promise<void> => {
    const { engine: metadata, clock, wal, sequences } = w
    const shared = { store, metadata, clock, logger: silentLogger }
    const kind = random(4)
    if (kind === 0) {
      await w.convert(random(PARTITIONS))
      seen.conversions++
    } else if (kind === 1) {
      const evacuator = new Evacuator({
        ...shared,
        wal,
        sequences,
        registry: new Registry(),
        afterMs: random(2000),
        sparseAfterMs: 0,
        segmentBytes: 500,
      })
      seen.segments += await evacuator.pass()
    } else if (kind === 2) seen.deletions += await new Deleter({ ...shared, registry: new Registry() }).pass()
    else await enqueueOrphans({ ...shared, graceMs: 0 })
  }
  const running = new Set<Promise<void>>()
  const advance = async (): Promise<void> => {
    w.clock.nowMs += 1
    await w.clock.advance(random(200))
  }
  for (let step = 0; step < STEPS; step++) {
    faults = step % 100 < 30 ? 150 : 0
    for (const producer of producers) if (random(2) === 0) producer.step(w, random, true)
    if (running.size === 0 && random(10) === 0) {
      const pass: Promise<void> = background()
        .catch(() => {})
        .finally(() => running.delete(pass))
      running.add(pass)
    }
    if (random(60) === 0) {
      // A kill: nothing that this process does from here on reaches store or log.
      seen.kills++
      const dead = (): Promise<void> => new Promise(() => {})
      log.beforeAppend = dead
      log.afterAppend = dead
      const nowMs = w.clock.nowMs
      store.before = dead
      running.clear()
      log = new MemoryLog(log.disk)
      breakThings(log, store, random, () => 0)
      w = await logWorld({ ...options, log, tables })
      w.clock.nowMs = nowMs
      breakThings(log, store, random, () => faults)
      for (const producer of producers) producer.disconnect()
    }
    await advance()
  }
  faults = 0
  for (let i = 0; i < 2000 && !(producers.every((producer) => producer.idle) && running.size === 0); i++) {
    for (const producer of producers) producer.step(w, random, false)
    await advance()
  }
  expect(producers.every((producer) => producer.idle)).toBe(true)
  for (let pass = 0; pass < 3; pass++) {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const rows = await readAll(w, partition)
      expect(rows.map(({ offset }) => offset)).toEqual(Array.from({ length: rows.length }, (_, i) => i))
      let expected = 0
      for (const producer of producers.filter((one) => one.partition === partition)) {
        const own = rows.filter(({ value }) => value.length === 20 + producer.id)
        const wanted = producer.sent.flatMap(({ sequence, count, acknowledged }) =>
          Array.from({ length: count }, (_, i) => [acknowledged + i, sequence % 251]),
        )
        expect(own.map(({ offset, value }) => [offset, value[0]])).toEqual(wanted)
        expected += wanted.length
      }
      expect(rows.length).toBe(expected)
      seen.records += rows.length
    }
    if (pass === 0) {
      // The same from a new process, then with everything moved and all that is due deleted.
      log = new MemoryLog(log.disk)
      const { nowMs } = w.clock
      w = await logWorld({ ...options, log, tables })
      w.clock.nowMs = nowMs + 1_000_000
    } else {
      for (let i = 0; i < 20; i++) await background()
    }
  }
  return seen
}

test.each(Array.from({ length: 8 }, (_, i) => i + 1))('history %i', async (seed) => {
  const seen = await history(seed)
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0)
})
