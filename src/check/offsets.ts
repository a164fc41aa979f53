import type { Extent, StateView, TopicView } from '../metadata/view.ts'
import type { Report } from './report.ts'

/** Extents of a partition, without a gap from its log start to its end. */
export function checkOffsets(state: StateView, report: Report): void {
  for (const topic of state.topics()) {
    for (let partition = 0; partition < topic.partitions; partition++) {
      report.count('partitions')
      checkPartition(state, topic, partition, report)
    }
  }
}

function checkPartition(state: StateView, topic: TopicView, partition: number, report: Report): void {
  const view = state.partition(topic.topic, partition)!
  let next = view.logStartOffset
  let sizeBytes = 0
  for (const extent of state.extents(topic.topic, partition, view.logStartOffset)) {
    report.count(extent.kind === 'wal' ? 'extents in the write-ahead log' : 'extents in tables')
    sizeBytes += extent.originalBytes
    // The first may begin below the log start, which moves within it.
    if (extent.firstOffset > next || (extent.firstOffset < next && next !== view.logStartOffset))
      hole(topic, partition, next, extent, report)
    next = extent.lastOffset + 1
  }
  if (next !== view.endOffset) {
    report.lost(`${topic.name}-${partition}: the log ends at offset ${view.endOffset}, but what it holds ends at ${next}`)
  }
  if (sizeBytes !== view.sizeBytes) {
    report.lost(`${topic.name}-${partition}: its extents hold ${sizeBytes} bytes, the state says ${view.sizeBytes}`)
  }
}

function hole(topic: TopicView, partition: number, next: number, { firstOffset }: Extent, report: Report): void {
  const what = firstOffset > next ? `offsets ${next} to ${firstOffset - 1} are nowhere` : `offsets from ${firstOffset} on are there twice`
  report.lost(`${topic.name}-${partition}: ${what}`)
}
