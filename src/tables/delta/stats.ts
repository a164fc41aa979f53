import { printJson } from '../iceberg/json.ts'
import type { DataFile, Schema } from '../iceberg/types.ts'
import { decimalOf, readBound, type BoundValue } from '../replicas/bounds.ts'
import type { IcebergField, IcebergType } from '../../schemas/columns/types.ts'
import { deltaType } from './schema.ts'

interface RawJson {
  rawJSON(text: string): unknown
}
type Tree = { [name: string]: unknown }

const DAY_MS = 86_400_000
/** Years that every reader's parser takes: 0001 to 9999. */
const FIRST_MS = -62_135_596_800_000
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

function instant(ms: number, zone: string): string | null {
  if (ms < FIRST_MS || ms > LAST_MS) return null
  return new Date(ms).toISOString().replace('Z', zone)
}

/** Statistics hold milliseconds: a minimum is lowered to one, a maximum raised. */
function millis(micros: bigint, upper: boolean): number {
  const rest = ((micros % 1000n) + 1000n) % 1000n
  return Number((micros - rest) / 1000n) + (upper && rest > 0n ? 1 : 0)
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return unscaled < 0n ? `-${text}` : text
}

/** A bound as Delta's statistics write it (PROTOCOL.md, "Per-file Statistics"), or null where they have none. */
function statValue(type: IcebergType, value: BoundValue, upper: boolean): unknown {
  const decimal = decimalOf(type)
  if (decimal !== null) return (JSON as unknown as RawJson).rawJSON(decimalText(value as bigint, decimal.scale))
  switch (type) {
    case 'int':
    case 'long':
    case 'string':
      return value
    case 'float':
    case 'double':
      // JSON has no infinity.
      return Number.isFinite(value) ? value : null
    case 'date':
      return instant(Number(value) * DAY_MS, '')?.slice(0, 10) ?? null
    case 'timestamptz':
      return instant(millis(value as bigint, upper), 'Z')
    case 'timestamp':
      return instant(millis(value as bigint, upper), '')
    default:
      return null
  }
}

/**
 * The `stats` of an add action: rows, minima, maxima and null counts by physical name, nested structs as objects. Lists
 * and maps have none. What Iceberg cut or left out stays so: a bound is never narrower than the values.
 */
export function deltaStats(file: DataFile, schema: Schema): string {
  const { metrics } = file
  const nulls = new Map(metrics.nullValueCounts)
  const lower = new Map(metrics.lowerBounds)
  const upper = new Map(metrics.upperBounds)
  const nans = new Map(metrics.nanValueCounts)
  const minValues: Tree = {}
  const maxValues: Tree = {}
  const nullCount: Tree = {}
  const bound = (into: Tree, field: IcebergField, raw: Uint8Array | undefined, isUpper: boolean): void => {
    if (raw === undefined) return
    const value = readBound(field.type, raw)
    const stat = value === null ? null : statValue(field.type, value, isUpper)
    if (stat !== null) into[field.name] = stat
  }
  const walk = (fields: readonly IcebergField[], min: Tree, max: Tree, count: Tree): void => {
    for (const field of fields) {
      if (deltaType(field.type) === null) continue
      if (typeof field.type === 'object') {
        if (field.type.type !== 'struct') continue
        const inner: [Tree, Tree, Tree] = [{}, {}, {}]
        walk(field.type.fields, ...inner)
        for (const [at, into] of [min, max, count].entries()) if (Object.keys(inner[at]!).length > 0) into[field.name] = inner[at]
        continue
      }
      bound(min, field, lower.get(field.id), false)
      // NaN is above all numbers to Spark and in no bound of Iceberg's: where one may be there is no maximum (hazard I9).
      const unbounded = (field.type === 'float' || field.type === 'double') && nans.get(field.id) !== 0
      bound(max, field, unbounded ? undefined : upper.get(field.id), true)
      const nullsOf = nulls.get(field.id)
      if (nullsOf !== undefined) count[field.name] = nullsOf
    }
  }
  walk(schema.fields, minValues, maxValues, nullCount)
  return printJson({ numRecords: file.recordCount, minValues, maxValues, nullCount })
}
