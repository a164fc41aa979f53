import type { StateView, WalExtent } from '../metadata/view.ts'

/** What moves together: neighbouring extents of one partition in one object; they become one extent. */
export interface MovedRange {
  readonly topic: number
  readonly partition: number
  readonly object: number
  readonly firstOffset: number
  lastOffset: number
  readonly extents: WalExtent[]
}

/** One object to be written: ranges of one topic, by partition and offset. */
export interface Segment {
  readonly topic: number
  readonly topicId: string
  readonly ranges: MovedRange[]
  sizeBytes: number
}

/** All live ranges of the chosen objects, cut into segments of about `segmentBytes` (a range is never cut). */
export function planSegments(state: StateView, chosen: ReadonlySet<number>, segmentBytes: number): Segment[] {
  const segments: Segment[] = []
  for (const { topic, topicId, partitions } of state.topics()) {
    let segment: Segment | null = null
    for (let partition = 0; partition < partitions; partition++) {
      for (const range of rangesOf(state, topic, partition, chosen)) {
        const sizeBytes = range.extents.reduce((sum, extent) => sum + extent.sizeBytes, 0)
        if (segment === null || segment.sizeBytes + sizeBytes > segmentBytes) {
          segment = { topic, topicId, ranges: [], sizeBytes: 0 }
          segments.push(segment)
        }
        segment.ranges.push(range)
        segment.sizeBytes += sizeBytes
      }
    }
  }
  return segments
}

function rangesOf(state: StateView, topic: number, partition: number, chosen: ReadonlySet<number>): MovedRange[] {
  const ranges: MovedRange[] = []
  for (const extent of state.extents(topic, partition, state.firstUnconverted(topic, partition))) {
    if (extent.kind !== 'wal' || !chosen.has(extent.object)) continue
    const last = ranges.at(-1)
    if (last !== undefined && last.object === extent.object && last.lastOffset + 1 === extent.firstOffset) {
      last.lastOffset = extent.lastOffset
      last.extents.push(extent)
    } else {
      const { firstOffset, lastOffset, object } = extent
      ranges.push({ topic, partition, object, firstOffset, lastOffset, extents: [extent] })
    }
  }
  return ranges
}
