import { primitiveOf } from '../../schemas/columns/types.ts'
import type { PartitionValue } from '../iceberg/types.ts'
import { murmur3, murmur3Long } from './murmur3.ts'
import type { Transform } from '../../base/config/partitionBy.ts'

/**
 * A column's value: int and date (days) as number; long, time and timestamps (microseconds) as bigint; decimals as their
 * unscaled bigint; strings as UTF-8, binary, uuid and fixed as bytes.
 */
export type SourceValue = null | boolean | number | bigint | Uint8Array

const DAY_US = 86_400_000_000n
const HOUR_US = 3_600_000_000n

function floorDiv(value: bigint, by: bigint): bigint {
  const quotient = value / by
  return value < 0n && quotient * by !== value ? quotient - 1n : quotient
}

/** Whole years and months since 1970 of a day number, for any day that a microsecond timestamp can name. */
function yearsAndMonths(days: number): { years: number; months: number } {
  // Civil-from-days: eras of 400 years (146,097 days) that begin on 1 March.
  const shifted = days + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shiftedMonth < 10 ? shiftedMonth + 2 : shiftedMonth - 10
  const year = era * 400 + yearOfEra + (month <= 1 ? 1 : 0)
  return { years: year - 1970, months: (year - 1970) * 12 + month }
}

/** Big-endian two's complement of least length (Iceberg spec: how decimals are hashed and bounded). */
export function minimalBytes(value: bigint): Buffer {
  let length = 1
  while (BigInt.asIntN(length * 8, value) !== value) length++
  return Buffer.from(
    BigInt.asUintN(length * 8, value)
      .toString(16)
      .padStart(length * 2, '0'),
    'hex',
  )
}

function hash(kind: string, value: Exclude<SourceValue, null>): number {
  if (value instanceof Uint8Array) return murmur3(value)
  if (kind === 'decimal') return murmur3(minimalBytes(value as bigint))
  return murmur3Long(BigInt(value))
}

function truncate(kind: string, value: Exclude<SourceValue, null>, width: number): PartitionValue {
  if (value instanceof Uint8Array) {
    if (kind === 'binary') return value.subarray(0, width)
    return [...new TextDecoder().decode(value.subarray(0, width * 4))].slice(0, width).join('')
  }
  const big = BigInt(value as number | bigint)
  const by = BigInt(width)
  const cut = floorDiv(big, by) * by
  return kind === 'int' ? Number(cut) : cut
}

/**
 * Makes the function that gives a column's partition value (Iceberg spec, "Partition Transforms"). `type` is the column's.
 * Nulls stay null.
 */
export function transformer(transform: Transform, type: string): (value: SourceValue) => PartitionValue {
  const { kind } = primitiveOf(type)
  const { width } = transform
  const days = (value: number | bigint): number => (kind === 'date' ? Number(value) : Number(floorDiv(BigInt(value), DAY_US)))
  const of = (value: Exclude<SourceValue, null>): PartitionValue => {
    switch (transform.kind) {
      case 'void':
        return null
      case 'bucket':
        return (hash(kind, value) & 0x7fffffff) % width
      case 'truncate':
        return truncate(kind, value, width)
      case 'year':
        return yearsAndMonths(days(value as bigint)).years
      case 'month':
        return yearsAndMonths(days(value as bigint)).months
      case 'day':
        return days(value as bigint)
      case 'hour':
        return Number(floorDiv(value as bigint, HOUR_US))
      case 'identity':
        if (kind === 'string') return new TextDecoder().decode(value as Uint8Array)
        // -0 and 0 are one partition, and every NaN is one.
        return kind === 'float' || kind === 'double' ? (value as number) + 0 : value
    }
  }
  return (value) => (value === null ? null : of(value))
}
