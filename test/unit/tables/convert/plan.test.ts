import { describe, expect, it } from 'vitest'
import type { StateView, WalExtent } from '../../../../src/metadata/view.ts'
import { committable, cutFiles, planConversion } from '../../../../src/tables/convert/plan.ts'

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
    partition: (_topic: number, partition: number) => ({ endOffset: (partitions[partition]!.at(-1)?.lastOffset ?? -1) + 1 }),
    extents: (_topic: number, partition: number) => partitions[partition]!,
  } as unknown as StateView
}

describe('planning a conversion', () => {
  it('takes the oldest WAL objects of all partitions first and stays contiguous', () => {
    const plan = planConversion(state([[extent(1, 0, 4), extent(3, 5, 9)], [extent(2, 0, 4), extent(4, 5, 9)], []]), 1, 3, 350)
    expect(plan.partitions.map(({ partition, extents }) => [partition, extents.map((one) => one.object)])).toEqual([
      [0, [1, 3]],
      [1, [2]],
    ])
    expect(plan).toMatchObject({ sizeBytes: 300, commitTimeMs: 3, complete: false })
  })

  it('takes at least one extent, however large', () => {
    expect(planConversion(state([[extent(1, 0, 4, 1000), extent(2, 5, 6)]]), 1, 1, 10)).toMatchObject({ sizeBytes: 1000, complete: false })
    expect(planConversion(state([[]]), 1, 1, 10)).toMatchObject({ sizeBytes: 0, complete: true, partitions: [] })
  })

  it('cuts files in order of partition and offset, apart when asked', () => {
    const plan = planConversion(state([[extent(1, 0, 4), extent(3, 5, 9)], [extent(2, 0, 4)]]), 1, 2, 1000)
    const shape = (apart: boolean, bytes: number): number[][] =>
      cutFiles(plan, bytes, apart).map((file) => file.extents.map((one) => one.extent.object))
    expect(shape(false, 200)).toEqual([[1, 3], [2]])
    expect(shape(false, 1000)).toEqual([[1, 3, 2]])
    expect(shape(true, 1000)).toEqual([[1, 3], [2]])
  })

  it('begins where the WAL of the partition begins', () => {
    const plan = planConversion(state([[extent(1, 0, 9)]], [4]), 1, 1, 1000)
    expect(cutFiles(plan, 1000, false)[0]!.extents[0]!.fromOffset).toBe(4)
  })

  it('commits what stays contiguous when a file fails (J18)', () => {
    const partitions = Array.from({ length: 2 }, () => [extent(1, 0, 9), extent(2, 10, 19), extent(3, 20, 29)])
    const files = cutFiles(planConversion(state(partitions), 1, 2, 10_000), 100, false)
    expect(files).toHaveLength(6)
    const { indexes, ranges } = committable(files, [true, false, true, true, true, true])
    expect(indexes).toEqual([0, 3, 4, 5])
    expect(ranges).toEqual([
      { partition: 0, firstOffset: 0, lastOffset: 9 },
      { partition: 1, firstOffset: 0, lastOffset: 29 },
    ])
  })
})
