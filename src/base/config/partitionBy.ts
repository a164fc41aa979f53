import { FrazilError } from '../errors.ts'

/** A transform taken apart (Iceberg spec, "Partition Transforms"). `width` is the N of bucket[N], the W of truncate[W]. */
export interface Transform {
  readonly kind: 'identity' | 'bucket' | 'truncate' | 'year' | 'month' | 'day' | 'hour' | 'void'
  readonly width: number
}

/** One element of `table.partition.by`. */
export interface PartitionTerm {
  readonly column: string
  readonly transform: Transform
}

const WIDTH_MAX = 2 ** 31 - 1
const TERM = /^(?:(identity|year|years|month|months|day|days|hour|hours|void)\((.+)\)|(bucket|truncate)\(([^,]+),([^,]+)\)|([^(),]+))$/i
/** Terms end at commas outside parentheses. */
const COMMA = /,(?![^(]*\))/
export const TERMS_MAX = 16

/**
 * Reads `table.partition.by`: `none`, or terms like `day(kafka_timestamp)`, `bucket(16, id)`, `truncate(4, name)`,
 * `kafka_partition`, separated by commas. Errors: REFUSED, with a sentence.
 */
export function parsePartitionBy(text: string): PartitionTerm[] {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed.toLowerCase() === 'none') return []
  const terms = trimmed.split(COMMA).map(parseTerm)
  if (terms.length > TERMS_MAX) throw new FrazilError('REFUSED', `a table is partitioned by at most ${TERMS_MAX} terms`)
  const spelled = terms.map(({ column, transform }) => `${transform.kind} ${transform.width} ${column}`)
  const twice = terms.find((_term, at) => spelled.indexOf(spelled[at]!) !== at)
  if (twice !== undefined) throw new FrazilError('REFUSED', `the table would be partitioned by ${twice.column} twice in the same way`)
  return terms
}

function parseTerm(text: string): PartitionTerm {
  const match = TERM.exec(text.trim())
  if (match === null)
    throw new FrazilError('REFUSED', `${text.trim()} is no partition transform, such as day(kafka_timestamp) or bucket(16, id)`)
  const [, named, namedColumn, sized, one, other, plain] = match
  if (plain !== undefined) return { column: plain.trim(), transform: { kind: 'identity', width: 0 } }
  if (named !== undefined) {
    const kind = named.toLowerCase().replace(/s$/, '') as Transform['kind']
    return { column: namedColumn!.trim(), transform: { kind, width: 0 } }
  }
  // Both orders are in use: bucket(16, id) in Iceberg and Spark, bucket(id, 16) in Trino.
  const [width, column] = /^\s*\d+\s*$/.test(one!) ? [Number(one), other!] : [Number(other), one!]
  if (!Number.isInteger(width) || width < 1 || width > WIDTH_MAX)
    throw new FrazilError('REFUSED', `${text.trim()}: the width must be a whole number of at least 1`)
  return { column: column.trim(), transform: { kind: sized!.toLowerCase() as 'bucket' | 'truncate', width } }
}

/** What is wrong with a value of `table.partition.by`, or null. */
export function partitionProblem(value: string): string | null {
  try {
    parsePartitionBy(value)
    return null
  } catch (error) {
    return (error as Error).message
  }
}
