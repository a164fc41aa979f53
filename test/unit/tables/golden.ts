import { readFileSync } from 'node:fs'
import type { TestRow } from './records.ts'

const fixture = (name: string): Buffer => readFileSync(new URL(`../../fixtures/tables/${name}`, import.meta.url))

interface PlainJson {
  readonly partition: number
  readonly rows: readonly {
    readonly offset: number
    readonly timestampMs: number
    readonly timestampType: number
    readonly key: string | null
    readonly value: string | null
    readonly headers: readonly (readonly [string, string | null])[]
  }[]
}

/** A table file of the first version: row groups of 64 rows, pages of 20. It must decode for ever and is never written again. */
export function goldenFile(): Buffer {
  return fixture('rows-v1.parquet')
}

/** Its rows, bytes as hex in the file. */
export function goldenRows(): { readonly partition: number; readonly rows: readonly TestRow[] }[] {
  const bytes = (hex: string | null): Buffer | null => (hex === null ? null : Buffer.from(hex, 'hex'))
  return (JSON.parse(fixture('rows-v1.json').toString()) as PlainJson[]).map(({ partition, rows }) => ({
    partition,
    rows: rows.map(({ key, value, headers, ...rest }) => ({
      ...rest,
      key: bytes(key),
      value: bytes(value),
      headers: headers.map((header) => ({ key: bytes(header[0])!, value: bytes(header[1]) })),
    })),
  }))
}
