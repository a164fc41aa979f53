import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { ExtentIndex } from '../../../src/metadata/state/extents.ts'
import { part } from './helpers.ts'
import { Random } from './randomCommands.ts'
import { Bench } from './rooms.ts'

/** Small state (L16): what a row costs is a number that a change must not raise unseen. */
describe('bytes of memory', () => {
  it('an extent: at most 64, its place in the index of the partition included', () => {
    const bench = new Bench()
    const partitions = 64
    const topic = bench.topic('a', partitions)
    for (let i = 0; i < 640; i++) bench.wal(...Array.from({ length: partitions }, (_, p) => part(topic, p, p * 100, {})))
    const { parts } = bench.rooms
    const indexBytes = bench.rooms.topicRows.byNumber.get(topic)!.slots.reduce((sum, slot) => sum + parts.index(slot)!.sizeBytes, 0)
    expect(parts.extents.count).toBe(640 * 64)
    const bytes = (parts.extents.sizeBytes + indexBytes) / parts.extents.count
    expect(bytes).toBeGreaterThan(50)
    expect(bytes).toBeLessThanOrEqual(64)
  })

  it('a producer: at most 200, with its five batches and its place in the hash', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    const count = 1 << 15
    bench.wal(part(topic, 0, 0, ...Array.from({ length: count }, (_, i) => ({ producerId: i, sequence: 0 }))))
    expect(bench.rooms.producerRows.count).toBe(count)
    const bytes = bench.rooms.producerRows.sizeBytes / count
    expect(bytes).toBeGreaterThan(140)
    expect(bytes).toBeLessThanOrEqual(200)
  })

  it('a partition: at most 300, with one extent in its index, measured on the heap of a process of its own', () => {
    const script = fileURLToPath(new URL('./partitionBytes.ts', import.meta.url))
    const bytes = Number(execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' }))
    expect(bytes).toBeGreaterThan(60)
    expect(bytes).toBeLessThanOrEqual(300)
  })

  it('slots that were freed are used again', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    for (let i = 0; i < 100; i++) {
      bench.wal(part(topic, 0, 0, ...Array.from({ length: 50 }, (_, p) => ({ producerId: p, sequence: i }))))
      bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: (i + 1) * 50 }] })
    }
    const sizeBytes = bench.rooms.parts.extents.sizeBytes
    for (let i = 100; i < 5000; i++) {
      bench.produce(topic, 0, { count: 1 })
      bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: bench.state.partition(topic, 0)!.endOffset }] })
    }
    expect(bench.rooms.parts.extents.sizeBytes).toBe(sizeBytes)
    expect(bench.rooms.parts.extents.count).toBe(0)
  })
})

describe('the index of a partition', () => {
  it('is an array to which everything is done, seeded', () => {
    const random = new Random(5)
    const index = new ExtentIndex()
    let model: number[] = []
    const wrong: number[] = []
    for (let i = 0; i < 20_000; i++) {
      const roll = random.int(10)
      if (roll < 6) {
        index.push(i)
        model.push(i)
      } else if (roll < 7) {
        const count = random.int(Math.min(model.length, 8) + 1)
        index.shift(count)
        model = model.slice(count)
      } else {
        const from = random.int(model.length + 1)
        const to = from + random.int(Math.min(6, model.length - from) + 1)
        const slots = Array.from({ length: random.int(4) }, (_, j) => i * 10 + j)
        index.replace(from, to, slots)
        model.splice(from, to - from, ...slots)
      }
      if (index.length !== model.length || model.some((slot, at) => index.at(at) !== slot)) wrong.push(i)
      if (model.length > 300) {
        index.shift(290)
        model = model.slice(290)
      }
    }
    expect(wrong).toEqual([])
  })
})
