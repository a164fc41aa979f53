import type { StateView } from '../metadata/view.ts'
import type { FetchPartition } from './port.ts'

/**
 * Bytes that a fetch would find in a partition, capped at its limit, without reading any: whole extents count as they
 * were produced, the one that holds the offset by its share of offsets. 0 at the end and out of range.
 */
export function availableBytes(state: StateView, wanted: FetchPartition): number {
  return sumBytes(state, wanted, false)
}

/** As `availableBytes`, but never too little: the extent that holds the offset counts whole. */
export function availableBytesMost(state: StateView, wanted: FetchPartition): number {
  return sumBytes(state, wanted, true)
}

function sumBytes(state: StateView, { topic, partition, fetchOffset, maxBytes }: FetchPartition, wholeFirst: boolean): number {
  const view = state.partition(topic, partition)
  if (view === null || fetchOffset >= view.endOffset) return 0
  let sum = 0
  for (let offset = fetchOffset; sum < maxBytes;) {
    const extent = state.extentAt(topic, partition, offset)
    if (extent === null) break
    const offsets = extent.lastOffset - extent.firstOffset + 1
    const left = extent.lastOffset + 1 - Math.max(offset, extent.firstOffset)
    sum += wholeFirst || left === offsets ? extent.originalBytes : Math.ceil((extent.originalBytes * left) / offsets)
    offset = extent.lastOffset + 1
  }
  return Math.min(sum, maxBytes)
}
