import type { RowFileStats } from '../parquet/rowWriter.ts'
import type { FileResult } from './tasks.ts'

/** Statistics of the Parquet writer as a manifest and CommitTable want them. */
export function fileResult(key: string, stats: RowFileStats, body: readonly Uint8Array[] | null): FileResult {
  return {
    key,
    sizeBytes: stats.sizeBytes,
    rows: stats.rows,
    ranges: stats.ranges.map(
      (range) => [range.partition, range.firstOffset, range.lastOffset, range.rows, range.maxTimestampMs, 0] as const,
    ),
    metrics: {
      columnSizes: [...stats.columnSizes],
      valueCounts: [...stats.valueCounts],
      nullValueCounts: [...stats.nullValueCounts],
      lowerBounds: [...stats.lowerBounds],
      upperBounds: [...stats.upperBounds],
      splitOffsets: [...stats.splitOffsets],
    },
    body,
  }
}
