import type { StateView } from '../metadata/view.ts'
import type { FetchPartition } from './port.ts'

/** Where a fetch must end: the last stable offset for read_committed, else the end; 0 for a partition that is not there. */
export function readableEnd(state: StateView, { topic, partition, isCommitted }: FetchPartition): number {
  const view = state.partition(topic, partition)
  if (view === null) return 0
  return isCommitted ? view.lastStableOffset : view.endOffset
}

/**
 * Bytes that a fetch would find in a partition, capped at its limit, without reading any: whole extents count as they
 * were produced, the one that holds the offset by its share of offsets. 0 at the end and out of range. A hole up to the end counts as one byte: a batch stands for it (L18).
 */
export function availableBytes(state: StateView, wanted: FetchPartition): number {
  return sumBytes(state, wanted, false)
}

/** As `availableBytes`, but never too little: the extent that holds the offset counts whole. */
export function availableBytesMost(state: StateView, wanted: FetchPartition): number {
  return sumBytes(state, wanted, true)
}

function sumBytes(state: StateView, wanted: FetchPartition, wholeFirst: boolean): number {
  const { topic, partition, fetchOffset, maxBytes } = wanted
  const end = readableEnd(state, wanted)
  if (fetchOffset >= end) return 0
  let sum = 0
  for (let offset = fetchOffset; sum < maxBytes;) {
    const extent = state.extentAt(topic, partition, offset)
    if (extent === null || extent.firstOffset >= end) break
    const offsets = extent.lastOffset - extent.firstOffset + 1
    const left = extent.lastOffset + 1 - Math.max(offset, extent.firstOffset)
    sum += wholeFirst || left === offsets ? extent.originalBytes : Math.ceil((extent.originalBytes * left) / offsets)
    offset = extent.lastOffset + 1
  }
  return Math.max(1, Math.min(sum, maxBytes))
}
