/** Names that Iceberg, Spark, Delta or Paimon keep for themselves, lower case. */
const RESERVED: ReadonlySet<string> = new Set([
  '_file',
  '_pos',
  '_deleted',
  '_spec_id',
  '_partition',
  '_row_id',
  '_last_updated_sequence_number',
  '_change_type',
  '_change_ordinal',
  '_commit_snapshot_id',
  '_commit_version',
  '_commit_timestamp',
  '_metadata',
  '_sequence_number',
  '_value_kind',
  '_level',
  'rowkind',
  'file_path',
  'pos',
])

/** Prefixes of such names; BigQuery's are among them. */
const RESERVED_PREFIXES: readonly string[] = [
  'kafka_',
  '_key_',
  '_table_',
  '_file_',
  '_partition',
  '_row_timestamp',
  '__root__',
  '_colidentifier',
  '__index_',
  'delta_',
]

const NAME_MAX = 120

/**
 * The one rule for column names (T1), at every level of nesting: what is no letter, digit or underscore becomes an
 * underscore; a name that is empty, begins with a digit, or is reserved (ignoring case) gets `field_` in front; it ends
 * after 120 characters; one that is taken (ignoring case) gets `_2`, `_3`, …
 */
export function columnName(source: string, isTaken: (lowerCase: string) => boolean): string {
  let name = [...source.normalize('NFC').replaceAll(/[^\p{L}\p{N}\p{M}_]/gu, '_')].slice(0, NAME_MAX).join('')
  const lower = name.toLowerCase()
  if (
    name === '' ||
    /^\p{N}/u.test(name) ||
    /^\p{M}/u.test(name) ||
    RESERVED.has(lower) ||
    RESERVED_PREFIXES.some((prefix) => lower.startsWith(prefix))
  )
    name = name.startsWith('_') ? `field${name}` : `field_${name}`
  if (!isTaken(name.toLowerCase())) return name
  for (let number = 2; ; number++) if (!isTaken(`${name}_${number}`.toLowerCase())) return `${name}_${number}`
}
