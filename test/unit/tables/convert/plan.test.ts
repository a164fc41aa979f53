import { describe, expect, it } from 'vitest'
import type { StateView, WalExtent } from '../../../../src/metadata/view.ts'
import { systemClock } from '../../../../src/base/clock.ts'
import { TimeSlice } from '../../../../src/base/slice.ts'
import { type ConversionPlan, committable, cutFiles, planConversion, type SourceExtent } from '../../../../src/tables/convert/plan.ts'

function extent(object: number, firstOffset: number, lastOffset: number, sizeBytes = 100): WalExtent {
  return {
    kind: 'wal',
    object,
    byteOffset: 0,
    sizeBytes,
    firstOffset,
    lastOffset,
    maxTimestampMs: 0,
    originalBytes: sizeBytes,
    commitTimeMs: object,
  }
}

function state(partitions: readonly (readonly WalExtent[])[], from: readonly number[] = []): StateView {
  const first = (partition: number): number => from[partition] ?? partitions[partition]![0]?.firstOffset ?? 0
  return {
    firstUnconverted: (_topic: number, partition: number) => first(partition),
    partition: (_topic: number, partition: number) => ({ lastStableOffset: (partitions[partition]!.at(-1)?.lastOffset ?? -1) + 1 }),
    abortedTransactions: () => [],
    extents: (_topic: number, partition: number) => partitions[partition]!,
  } as unknown as StateView
}

const planOf = (of: StateView, partitions: number, maxBytes: number, slice = new TimeSlice(systemClock)): Promise<ConversionPlan> =>
  planConversion(of, 1, partitions, maxBytes, slice)

const objectOf = (one: SourceExtent): number => (one.kind === 'wal' ? one.object : -1)

describe('planning a conversion', () => {
  it('takes the oldest WAL objects of all partitions first and stays contiguous', async () => {
    const plan = await planOf(state([[extent(1, 0, 4), extent(3, 5, 9)], [extent(2, 0, 4), extent(4, 5, 9)], []]), 3, 350)
    expect(plan.partitions.map(({ partition, extents }) => [partition, extents.map(objectOf)])).toEqual([
      [0, [1, 3]],
      [1, [2]],
    ])
    expect(plan).toMatchObject({ sizeBytes: 300, commitTimeMs: 3, complete: false })
  })

  it('takes at least one extent, however large', async () => {
    expect(await planOf(state([[extent(1, 0, 4, 1000), extent(2, 5, 6)]]), 1, 10)).toMatchObject({ sizeBytes: 1000, complete: false })
    expect(await planOf(state([[]]), 1, 10)).toMatchObject({ sizeBytes: 0, complete: true, partitions: [] })
  })

  it('cuts files in order of partition and offset, apart when asked', async () => {
    const plan = await planOf(state([[extent(1, 0, 4), extent(3, 5, 9)], [extent(2, 0, 4)]]), 2, 1000)
    const shape = (apart: boolean, bytes: number): number[][] =>
      cutFiles(plan, bytes, apart).map((file) => file.spans.flatMap(({ extents }) => extents.map(objectOf)))
    expect(shape(false, 200)).toEqual([[1, 3], [2]])
    expect(shape(false, 1000)).toEqual([[1, 3, 2]])
    expect(shape(true, 1000)).toEqual([[1, 3], [2]])
  })

  it('lets others run between slices, over more extents than one slice takes', async () => {
    const many = Array.from({ length: 5000 }, (_, at) => extent(at, at, at))
    // a clock on which every look takes half a slice
    let nowMs = 0
    const restsMs: number[] = []
    const sleep = async (delayMs: number): Promise<void> => void restsMs.push(delayMs)
    const slow = { ...systemClock, monotonicMs: () => (nowMs += 0.5), sleep }
    const plan = await planOf(state([many]), 1, 1e9, new TimeSlice(slow, 3))
    expect(restsMs.length).toBeGreaterThan(100)
    expect(new Set(restsMs)).toEqual(new Set([3]))
    expect(plan.partitions[0]!.extents).toHaveLength(5000)
    expect(cutFiles(plan, 1e9, false)[0]!.spans).toHaveLength(1)
  })

  it('begins where the WAL of the partition begins', async () => {
    const plan = await planOf(state([[extent(1, 0, 9)]], [4]), 1, 1000)
    expect(cutFiles(plan, 1000, false)[0]!.spans[0]!.fromOffset).toBe(4)
  })

  it('commits what stays contiguous when a file fails (J18)', async () => {
    const partitions = Array.from({ length: 2 }, () => [extent(1, 0, 9), extent(2, 10, 19), extent(3, 20, 29)])
    const files = cutFiles(await planOf(state(partitions), 2, 10_000), 100, false)
    expect(files).toHaveLength(6)
    const { indexes, ranges } = committable(files, [true, false, true, true, true, true])
    expect(indexes).toEqual([0, 3, 4, 5])
    expect(ranges).toEqual([
      { partition: 0, firstOffset: 0, lastOffset: 9 },
      { partition: 1, firstOffset: 0, lastOffset: 29 },
    ])
  })
})
