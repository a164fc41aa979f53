import type { DataFile, Schema } from '../iceberg/types.ts'
import { decimalOf, readBound } from '../replicas/bounds.ts'
import type { IcebergType } from '../../schemas/columns/types.ts'
import { binaryRow, EMPTY_ROW, type Cell } from './binaryRow.ts'

/** `_VALUE_STATS` of a file and the columns that it is about (`_VALUE_STATS_COLS`). */
export interface ValueStats {
  readonly columns: readonly string[]
  readonly min: Buffer
  readonly max: Buffer
  readonly nullCounts: readonly (number | null)[]
}

export const NO_STATS = { _MIN_VALUES: EMPTY_ROW, _MAX_VALUES: EMPTY_ROW, _NULL_COUNTS: [] }

/** Instants that readers can take: years 0001 to 9999, in microseconds. */
const FIRST_US = -62_135_596_800_000_000n
const LAST_US = 253_402_300_799_999_999n

/** Types with an order that all readers share; of decimals those that fit a long. */
function hasBounds(type: IcebergType): boolean {
  const decimal = decimalOf(type)
  if (decimal !== null) return decimal.precision <= 18
  return (
    typeof type === 'string' && ['boolean', 'int', 'long', 'float', 'double', 'date', 'timestamptz', 'timestamp', 'string'].includes(type)
  )
}

function cellOf(type: IcebergType, raw: Uint8Array | undefined): Cell {
  const value = raw === undefined ? null : readBound(type, raw)
  if (value === null) return null
  if (decimalOf(type) !== null) return { kind: 'long', value: value as bigint }
  switch (type) {
    case 'boolean':
      return { kind: 'boolean', value: value as boolean }
    case 'int':
    case 'date':
      return { kind: 'int', value: value as number }
    case 'long':
      return { kind: 'long', value: value as bigint }
    case 'float':
      return { kind: 'float', value: value as number }
    case 'double':
      return { kind: 'double', value: value as number }
    case 'string':
      return { kind: 'string', value: value as string }
    default:
      return (value as bigint) < FIRST_US || (value as bigint) > LAST_US ? null : { kind: 'micros', value: value as bigint }
  }
}

/**
 * Iceberg's bounds and null counts of those top-level columns that the file's Paimon schema names, as Paimon's dense statistics. A missing bound is null, which
 * readers take for unknown; of a float column that may hold NaN there are none (NaN is above all numbers there).
 */
export function valueStats(file: DataFile, schema: Schema, names: ReadonlySet<string>): ValueStats {
  const { metrics } = file
  const nulls = new Map(metrics.nullValueCounts)
  const nans = new Map(metrics.nanValueCounts)
  const lower = new Map(metrics.lowerBounds)
  const upper = new Map(metrics.upperBounds)
  const columns: string[] = []
  const min: Cell[] = []
  const max: Cell[] = []
  const nullCounts: (number | null)[] = []
  for (const { id, name, type } of schema.fields) {
    const nullCount = nulls.get(id)
    if (nullCount === undefined || !hasBounds(type) || !names.has(name)) continue
    const unknown = (type === 'float' || type === 'double') && nans.get(id) !== 0
    columns.push(name)
    min.push(unknown ? null : cellOf(type, lower.get(id)))
    max.push(unknown ? null : cellOf(type, upper.get(id)))
    nullCounts.push(nullCount)
  }
  return { columns, min: binaryRow(min), max: binaryRow(max), nullCounts }
}
