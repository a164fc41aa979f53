import type { Transform } from '../../base/config/partitionBy.ts'
import { primitiveOf, type IcebergType } from '../../schemas/columns/types.ts'

/** A transform as table metadata spells it. */
export function printTransform({ kind, width }: Transform): string {
  return kind === 'bucket' || kind === 'truncate' ? `${kind}[${width}]` : kind
}

export function readTransform(text: string): Transform {
  const match = /^(bucket|truncate)\[(\d+)\]$/.exec(text)
  if (match !== null) return { kind: match[1] as 'bucket' | 'truncate', width: Number(match[2]) }
  return { kind: text as Transform['kind'], width: 0 }
}

const INSTANTS: ReadonlySet<string> = new Set(['timestamp', 'timestamptz'])
const ALLOWED: Readonly<Record<Transform['kind'], (kind: string) => boolean>> = {
  identity: () => true,
  void: () => true,
  bucket: (kind) => !['boolean', 'float', 'double'].includes(kind),
  truncate: (kind) => ['int', 'long', 'decimal', 'string', 'binary'].includes(kind),
  year: (kind) => kind === 'date' || INSTANTS.has(kind),
  month: (kind) => kind === 'date' || INSTANTS.has(kind),
  day: (kind) => kind === 'date' || INSTANTS.has(kind),
  hour: (kind) => INSTANTS.has(kind),
}

/** The type of a transform's values, or null where it does not go with the column's type. */
export function resultType(transform: Transform, source: IcebergType): string | null {
  if (typeof source !== 'string' || !ALLOWED[transform.kind](primitiveOf(source).kind)) return null
  switch (transform.kind) {
    case 'bucket':
    case 'year':
    case 'month':
    case 'hour':
      return 'int'
    case 'day':
      return 'date'
    default:
      return source
  }
}
