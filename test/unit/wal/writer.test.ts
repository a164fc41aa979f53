import { describe, expect, test } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { batchCrcValid, readBatchHeader } from '../../../protocol/records/header.ts'
import { FrazilError } from '../../../src/base/errors.ts'
import { decodeHeader, decodeIndex, decodeTail, TAIL_BYTES } from '../../../src/wal/format.ts'
import type { WalExtent } from '../../../src/metadata/view.ts'
import { MemoryLog } from '../metadata/memoryLog.ts'
import { batchBytes, settle, walBatch, world } from './harness.ts'

const gate = (): { open: () => void; passed: Promise<void> } => {
  let open = (): void => {}
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { open, passed }
}

describe('group commit', () => {
  test('one object for many partitions, parts in order, index at its end', async () => {
    const { wal, store, engine, topic } = await world()
    const answers = await Promise.all([
      wal.append([{ topic, partition: 2, batch: walBatch({ count: 3 }) }]),
      wal.append([
        { topic, partition: 0, batch: walBatch({ count: 2 }) },
        { topic, partition: 2, batch: walBatch({ count: 4 }) },
      ]),
    ])
    expect(answers.flat().map(({ error, baseOffset }) => [error, baseOffset])).toEqual([
      [0, 0],
      [0, 0],
      [0, 3],
    ])
    const [[key, bytes]] = [...store.objects]
    expect(key).toBe('wal/0/0000000001/000000000001.wal')
    expect(decodeHeader(bytes)).toEqual({ incarnation: 1, walSequence: 1 })
    const tail = decodeTail(bytes, bytes.length)
    const parts = decodeIndex(bytes.subarray(tail.indexStart, bytes.length - TAIL_BYTES), tail.crc)
    expect(parts.map(({ partition, offsetCounts }) => [partition, offsetCounts])).toEqual([
      [0, [2]],
      [2, [3, 4]],
    ])
    expect(parts[0].topicId).toBe(engine.state.topicByNumber(topic)!.topicId)
    const extent = engine.state.extentAt(topic, 2, 0) as WalExtent
    expect([extent.byteOffset, extent.sizeBytes]).toEqual([parts[1].byteOffset, parts[1].sizesBytes[0] + parts[1].sizesBytes[1]])
  })

  test('behind a commit in flight a buffer lingers, then closes; with nothing in flight it closes at once', async () => {
    const { wal, store, topic, clock, idleTimers } = await world()
    const first = gate()
    store.before = (request) => (request === 'put' ? first.passed : undefined)
    const one = wal.append([{ topic, partition: 0, batch: walBatch() }])
    await settle()
    expect(store.count('put')).toBe(1)
    const two = wal.append([{ topic, partition: 0, batch: walBatch() }])
    const three = wal.append([{ topic, partition: 0, batch: walBatch() }])
    await settle()
    expect(store.count('put')).toBe(1)
    await clock.advance(5)
    expect(store.count('put')).toBe(2)
    first.open()
    expect((await Promise.all([one, two, three])).flat().map((answer) => answer.baseOffset)).toEqual([0, 1, 2])
    expect(clock.timers).toBe(idleTimers)
  })

  test('what waits behind a commit goes with the next one when that ends before the linger time', async () => {
    const { wal, store, topic } = await world()
    const first = gate()
    store.before = (_, key) => (key.endsWith('1.wal') ? first.passed : undefined)
    const one = wal.append([{ topic, partition: 0, batch: walBatch() }])
    await settle()
    const rest = [1, 2, 3].map(() => wal.append([{ topic, partition: 0, batch: walBatch() }]))
    first.open()
    await Promise.all([one, ...rest])
    expect(store.count('put')).toBe(2)
  })

  test('a full buffer closes without waiting', async () => {
    const { wal, store, topic } = await world({ maxBytes: 1000 })
    const first = gate()
    store.before = () => first.passed
    const appends = [1, 2, 3].map(() => wal.append([{ topic, partition: 0, batch: walBatch({ valueBytes: 1000 }) }]))
    await settle()
    expect(store.count('put')).toBe(3)
    first.open()
    await Promise.all(appends)
  })

  test('commits are made in the order of closing, whatever order uploads end in (L2)', async () => {
    const { wal, store, engine, topic } = await world({ maxBytes: 1 })
    const gates = [gate(), gate(), gate()]
    let puts = 0
    store.before = (request) => (request === 'put' ? gates[puts++].passed : undefined)
    const appends = gates.map((_, fill) => wal.append([{ topic, partition: 0, batch: walBatch({ fill }) }]))
    await settle()
    gates[2].open()
    gates[1].open()
    await settle()
    expect(engine.state.partition(topic, 0)!.endOffset).toBe(0)
    gates[0].open()
    expect((await Promise.all(appends)).flat().map((answer) => answer.baseOffset)).toEqual([0, 1, 2])
  })

  test('a small buffer rides inside its entry and is read back from there', async () => {
    const { wal, store, engine, topic } = await world({ inlineMaxBytes: 10_000, hotCacheBytes: 0 })
    const sent = batchBytes({ count: 3 })
    await Promise.all([
      wal.append([{ topic, partition: 1, batch: walBatch({ count: 2 }) }]),
      wal.append([{ topic, partition: 3, batch: walBatch({}, batchBytes({ count: 3 })) }]),
    ])
    expect(store.count('put')).toBe(0)
    const extent = engine.state.extentAt(topic, 3, 0) as WalExtent
    expect(engine.state.walObject(extent.object)!.key).toBe('')
    expect(Buffer.compare(await wal.read(extent.object, extent.byteOffset, extent.sizeBytes), sent)).toBe(0)
  })

  test('close answers everything that was appended and takes no more', async () => {
    const { wal, topic } = await world()
    const appended = wal.append([{ topic, partition: 0, batch: walBatch() }])
    await wal.close()
    expect((await appended)[0].baseOffset).toBe(0)
    await expect(wal.append([{ topic, partition: 0, batch: walBatch() }])).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('validation that still runs (L11)', () => {
  test.each([0, 10_000])('a refused batch stays out of the commit and splits the extent (inline up to %i)', async (inlineMaxBytes) => {
    const { wal, engine, topic } = await world({ inlineMaxBytes, hotCacheBytes: 0 })
    const verdict = gate()
    const append = wal.append([
      { topic, partition: 0, batch: walBatch({ fill: 1 }) },
      { topic, partition: 0, batch: walBatch({ fill: 2 }), ready: verdict.passed.then(() => Errors.INVALID_RECORD) },
      { topic, partition: 0, batch: walBatch({ fill: 3 }) },
    ])
    await settle()
    expect(engine.state.partition(topic, 0)!.endOffset).toBe(0)
    verdict.open()
    expect((await append).map(({ error, baseOffset }) => [error, baseOffset])).toEqual([
      [0, 0],
      [Errors.INVALID_RECORD, -1],
      [0, 1],
    ])
    const fills: number[] = []
    for (const extent of engine.state.extents(topic, 0, 0) as Iterable<WalExtent>) {
      const bytes = await wal.read(extent.object, extent.byteOffset, extent.sizeBytes)
      for (let at = 0; at < bytes.length; at += readBatchHeader(bytes, at).sizeBytes) {
        expect(batchCrcValid(bytes, at)).toBe(true)
        fills.push(bytes[at + readBatchHeader(bytes, at).sizeBytes - 2])
      }
    }
    expect(fills).toEqual([1, 3])
  })

  test('when every batch is refused the object goes to the deletion queue', async () => {
    const { wal, engine, topic } = await world()
    const answers = await wal.append([{ topic, partition: 0, batch: walBatch(), ready: Promise.resolve(Errors.INVALID_TIMESTAMP) }])
    expect(answers[0].error).toBe(Errors.INVALID_TIMESTAMP)
    await settle()
    expect([...engine.state.deletions()].map(({ key }) => key)).toEqual(['wal/0/0000000001/000000000001.wal'])
  })

  test('a validation that could not be made is a retriable error', async () => {
    const { wal, topic } = await world()
    const ready = Promise.reject(new FrazilError('STORE_UNAVAILABLE', 'a worker thread died'))
    expect((await wal.append([{ topic, partition: 0, batch: walBatch(), ready }]))[0].error).toBe(Errors.KAFKA_STORAGE_ERROR)
  })

  test('batches of a producer behind a refused one fail until it comes again', async () => {
    const { wal, engine, topic } = await world({ maxBytes: 1 })
    const verdict = gate()
    const at = (sequence: number, ready?: Promise<number>): ReturnType<typeof wal.append> =>
      wal.append([{ topic, partition: 0, batch: walBatch({ producerId: 7, sequence }), ...(ready && { ready }) }])
    const first = at(
      0,
      verdict.passed.then(() => Errors.KAFKA_STORAGE_ERROR),
    )
    const second = at(1)
    const other = wal.append([{ topic, partition: 0, batch: walBatch({ producerId: 8, sequence: 0 }) }])
    verdict.open()
    expect((await first)[0].error).toBe(Errors.KAFKA_STORAGE_ERROR)
    expect((await second)[0].error).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect((await other)[0].error).toBe(0)
    expect((await at(1))[0].error).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect((await at(0))[0].error).toBe(0)
    expect((await at(1))[0].error).toBe(0)
    expect(engine.state.partition(topic, 0)!.endOffset).toBe(3)
  })
})

describe('a producer that the sequencer knows', () => {
  test('is judged by it: a repetition that is lost holds up what is before it not at all, what is behind only once', async () => {
    const { wal, store, topic } = await world({ maxBytes: 1 })
    let broken = false
    store.before = (request) => {
      if (request === 'put' && broken) throw new FrazilError('STORE_UNAVAILABLE', 'no')
    }
    const append = (sequence: number): ReturnType<typeof wal.append> =>
      wal.append([{ topic, partition: 0, batch: walBatch({ producerId: 7, sequence }) }])
    for (let sequence = 0; sequence < 4; sequence++) expect((await append(sequence))[0].error).toBe(0)
    broken = true
    await expect(append(2)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    broken = false
    expect((await append(1))[0]).toMatchObject({ error: 0, baseOffset: 1 })
    expect((await append(4))[0].error).toBe(Errors.KAFKA_STORAGE_ERROR)
    expect((await append(5))[0].error).toBe(Errors.KAFKA_STORAGE_ERROR)
    expect((await append(4))[0]).toMatchObject({ error: 0, baseOffset: 4 })
    expect((await append(6))[0].error).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
  })

  test('a repetition that is lost is not overtaken by so many that it would not be known again', async () => {
    const { wal, store, topic } = await world({ maxBytes: 1 })
    let broken = false
    store.before = (request) => {
      if (request === 'put' && broken) throw new FrazilError('STORE_UNAVAILABLE', 'no')
    }
    const append = (sequence: number): ReturnType<typeof wal.append> =>
      wal.append([{ topic, partition: 0, batch: walBatch({ producerId: 7, sequence }) }])
    for (const sequence of [0, 1]) expect((await append(sequence))[0].error).toBe(0)
    // No more than five open at a time: the producer knows neither 0 nor 1 answered, and a later one that was passes for progress.
    let behind = 2
    for (let round = 0; round < 6; round++) {
      broken = true
      await expect(append(0)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      broken = false
      if ((await append(behind))[0].error === 0) behind++
    }
    expect((await append(0))[0]).toMatchObject({ error: 0, baseOffset: 0 })
    expect((await append(1))[0]).toMatchObject({ error: 0, baseOffset: 1 })
    expect((await append(2))[0]).toMatchObject({ error: 0, baseOffset: 2 })
  })

  test('until then, the first batch that was lost comes first, in whatever order they were lost', async () => {
    const { wal, store, topic } = await world({ maxBytes: 1 })
    let broken = true
    store.before = (request) => {
      if (request === 'put' && broken) throw new FrazilError('STORE_UNAVAILABLE', 'no')
    }
    const append = (sequence: number): ReturnType<typeof wal.append> =>
      wal.append([{ topic, partition: 0, batch: walBatch({ producerId: 7, sequence }) }])
    for (const sequence of [1, 0, 2]) await expect(append(sequence)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    broken = false
    expect((await append(1))[0].error).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    for (let sequence = 0; sequence < 3; sequence++) expect((await append(sequence))[0]).toMatchObject({ error: 0, baseOffset: sequence })
  })
})

describe('stores that fail', () => {
  test.each(['STORE_FULL', 'STORE_UNAVAILABLE'] as const)(
    '%s: rejected, nothing stored, later batches of the producer wait for it',
    async (code) => {
      const { wal, store, engine, topic } = await world({ maxBytes: 1 })
      let broken = true
      store.before = (request, key) => {
        if (request === 'put' && broken && key.endsWith('01.wal')) throw new FrazilError(code, 'no')
      }
      const append = (sequence: number): ReturnType<typeof wal.append> =>
        wal.append([{ topic, partition: 0, batch: walBatch({ producerId: 7, sequence }) }])
      const [first, second] = [append(0), append(1)]
      await expect(first).rejects.toMatchObject({ code })
      expect((await second)[0].error).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
      expect(engine.state.partition(topic, 0)!.endOffset).toBe(0)
      broken = false
      expect((await append(0))[0]).toMatchObject({ error: 0, baseOffset: 0 })
      expect((await append(1))[0]).toMatchObject({ error: 0, baseOffset: 1 })
    },
  )

  test('a put of unknown outcome is made again under its key', async () => {
    const { wal, store, clock, topic } = await world()
    let lost = 2
    store.after = (request) => {
      if (request === 'put' && lost-- > 0) throw new FrazilError('STORE_UNKNOWN', 'the answer was lost')
    }
    const append = wal.append([{ topic, partition: 0, batch: walBatch() }])
    for (let i = 0; i < 10; i++) await clock.advance(1000)
    expect((await append)[0].baseOffset).toBe(0)
    expect(store.objects.size).toBe(1)
  })

  test('a full metadata log rejects what was proposed and keeps the order', async () => {
    const log = new MemoryLog()
    const { wal, topic } = await world({ log, maxBytes: 1, inlineMaxBytes: 10_000 })
    let full = true
    log.beforeAppend = () => {
      if (full) throw new FrazilError('STORE_FULL', 'no space')
    }
    const append = (sequence: number): ReturnType<typeof wal.append> =>
      wal.append([{ topic, partition: 0, batch: walBatch({ producerId: 7, sequence }) }])
    const appends = await Promise.allSettled([append(0), append(1), append(2)])
    expect(appends[0]).toMatchObject({ status: 'rejected', reason: { code: 'STORE_FULL' } })
    const errors = appends.map((one) => (one.status === 'fulfilled' ? one.value[0].error : Errors.OUT_OF_ORDER_SEQUENCE_NUMBER))
    expect(new Set(errors)).toEqual(new Set([Errors.OUT_OF_ORDER_SEQUENCE_NUMBER]))
    full = false
    expect((await append(1))[0].error).toBe(Errors.OUT_OF_ORDER_SEQUENCE_NUMBER)
    expect((await append(0))[0].baseOffset).toBe(0)
    expect((await append(1))[0].baseOffset).toBe(1)
  })
})

test('committed batches are patched where they lie', async () => {
  const { wal, engine, topic } = await world()
  const bytes = [batchBytes({ count: 2 }), batchBytes({ count: 5 })]
  await wal.append(bytes.map((one) => ({ topic, partition: 0, batch: walBatch({}, one) })))
  expect(bytes.map((one) => readBatchHeader(one).baseOffset)).toEqual([0, 2])
  expect(bytes.every((one) => batchCrcValid(one))).toBe(true)
  const extent = engine.state.extentAt(topic, 0, 0) as WalExtent
  const cached = wal.cachedBatches(extent.object, extent.byteOffset, extent.sizeBytes)!
  expect(cached.batches.slice(cached.from, cached.to)).toEqual(bytes)
})
