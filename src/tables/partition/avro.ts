import { decimalBytes, primitiveOf } from '../../schemas/columns/types.ts'
import type { PartitionSpec, PartitionSummary, PartitionValue } from '../iceberg/types.ts'
import type { BoundField } from './spec.ts'
import { minimalBytes } from './values.ts'

/** Avro names are letters, digits and `_`; what else a name has is spelled `_x` and its code. */
function avroName(name: string): string {
  const made = name.replaceAll(/[^A-Za-z0-9_]/gu, (char) => `_x${char.codePointAt(0)!.toString(16).toUpperCase()}`)
  return /^\d/.test(made) ? `_${made}` : made
}

/** The Avro type of a partition value (Iceberg spec, Appendix A); `name` is for named types. */
function avroOf(type: string, name: string): unknown {
  const { kind, precision, scale, length } = primitiveOf(type)
  switch (kind) {
    case 'date':
      return { type: 'int', logicalType: 'date' }
    case 'time':
      return { type: 'long', logicalType: 'time-micros' }
    case 'timestamp':
    case 'timestamptz':
      return { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': kind === 'timestamptz' }
    case 'decimal':
      return { type: 'fixed', name, size: decimalBytes(precision), logicalType: 'decimal', precision, scale }
    case 'uuid':
      return { type: 'fixed', name, size: 16, logicalType: 'uuid' }
    case 'fixed':
      return { type: 'fixed', name, size: length }
    case 'binary':
      return 'bytes'
    default:
      return kind
  }
}

/** The `partition` struct of data_file in manifests of a spec (field 102): optional fields, ids are those of the spec. */
export function partitionRecord(spec: PartitionSpec, fields: readonly BoundField[]): object {
  return {
    type: 'record',
    name: 'r102',
    fields: spec.fields.map((field, i) => ({
      name: avroName(field.name),
      type: ['null', avroOf(fields[i]!.resultType, `r102_f${field['field-id']}`)],
      default: null,
      'field-id': field['field-id'],
    })),
  }
}

/** Partition values as avsc wants them: longs exact, decimals as bytes of their type's width. */
export function toAvroPartition(spec: PartitionSpec, fields: readonly BoundField[], values: readonly PartitionValue[]): object {
  return Object.fromEntries(
    spec.fields.map((field, i) => {
      const value = values[i] ?? null
      const { kind, precision } = primitiveOf(fields[i]!.resultType)
      if (value === null) return [avroName(field.name), null]
      if (kind === 'decimal') {
        const size = decimalBytes(precision)
        const hex = BigInt.asUintN(size * 8, value as bigint).toString(16)
        return [avroName(field.name), Buffer.from(hex.padStart(size * 2, '0'), 'hex')]
      }
      return [avroName(field.name), value instanceof Uint8Array ? Buffer.from(value) : value]
    }),
  )
}

/** The other way, from a row of any writer's manifest. */
export function fromAvroPartition(
  spec: PartitionSpec,
  fields: readonly BoundField[],
  row: Readonly<Record<string, unknown>>,
): PartitionValue[] {
  const byPosition = Object.values(row)
  return spec.fields.map((field, i) => {
    const raw = (row[avroName(field.name)] ?? byPosition[i] ?? null) as PartitionValue
    const { kind } = primitiveOf(fields[i]!.resultType)
    if (raw === null) return null
    if (kind === 'decimal' && raw instanceof Uint8Array) {
      const bytes = Buffer.from(raw)
      return BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString('hex')}`))
    }
    return kind === 'long' || kind.startsWith('time') ? BigInt(raw as number | bigint) : raw
  })
}

/** Single-value serialization (Iceberg spec, Appendix D) of a partition value. */
function singleValue(type: string, value: Exclude<PartitionValue, null>): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (typeof value === 'string') return Buffer.from(value)
  if (typeof value === 'boolean') return Buffer.from([value ? 1 : 0])
  const { kind } = primitiveOf(type)
  if (kind === 'decimal') return minimalBytes(value as bigint)
  const bytes = Buffer.alloc(kind === 'int' || kind === 'date' || kind === 'float' ? 4 : 8)
  if (kind === 'float') bytes.writeFloatLE(Number(value))
  else if (kind === 'double') bytes.writeDoubleLE(Number(value))
  else if (bytes.length === 4) bytes.writeInt32LE(Number(value))
  else bytes.writeBigInt64LE(BigInt(value))
  return bytes
}

function less(a: Exclude<PartitionValue, null>, b: Exclude<PartitionValue, null>): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) < 0
  // Code point order, which is that of the UTF-8 bytes and not of JavaScript's strings.
  if (typeof a === 'string' && typeof b === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
  return a < b
}

/** Partition summaries of a manifest: one a field of its spec, never left out (hazard L7). */
export function summarizePartitions(fields: readonly BoundField[], tuples: Iterable<readonly PartitionValue[]>): PartitionSummary[] {
  const all = [...tuples]
  return fields.map((field, i) => {
    let lower: Exclude<PartitionValue, null> | null = null
    let upper: Exclude<PartitionValue, null> | null = null
    let containsNull = false
    let containsNan = false
    for (const tuple of all) {
      const value = tuple[i] ?? null
      if (value === null) containsNull = true
      else if (Number.isNaN(value)) containsNan = true
      else {
        if (lower === null || less(value, lower)) lower = value
        if (upper === null || less(upper, value)) upper = value
      }
    }
    const isFloat = field.resultType === 'float' || field.resultType === 'double'
    return {
      containsNull,
      containsNan: isFloat ? containsNan : null,
      lower: lower === null ? null : singleValue(field.resultType, lower),
      upper: upper === null ? null : singleValue(field.resultType, upper),
    }
  })
}

/** A text that two tuples share exactly when they are the same partition. */
export function tupleKey(values: readonly PartitionValue[]): string {
  return JSON.stringify(
    values.map((value) => {
      if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString('hex') }
      if (typeof value === 'bigint') return { big: String(value) }
      return typeof value === 'number' && !Number.isFinite(value) ? { number: String(value) } : value
    }),
  )
}
