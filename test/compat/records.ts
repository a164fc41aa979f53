import { createHash, type Hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'

/** One record of the matrix; `headers` in order, repeats kept. */
export interface TestRecord {
  readonly partition: number
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly (readonly [string, Buffer | null])[]
  readonly timestampMs: number
}

export const PARTITIONS = 3

/**
 * The records of the matrix: null and empty apart, bytes that are no text, repeated and null headers (`full`), or what
 * clients with headers as a map can say (`plain`).
 */
export function makeRecords(count: number, shape: 'full' | 'plain'): TestRecord[] {
  const base = Date.now() - 3_600_000
  return Array.from({ length: count }, (_, i) => {
    const text = Buffer.from(`{"n":${i},"s":"\u00e4\u4e2d"}`)
    const binary = Buffer.alloc(40 + (i % 200), createHash('sha256').update(String(i)).digest())
    const headers: [string, Buffer | null][] =
      i % 3 !== 0
        ? []
        : shape === 'full'
          ? [
              ['x', Buffer.from('1')],
              ['n', null],
              ['x', Buffer.from('2')],
              ['e', Buffer.alloc(0)],
              ['\u00fc', Buffer.from([i % 256])],
            ]
          : [
              ['x', Buffer.from('1')],
              ['\u00fc', Buffer.from([1 + (i % 100)])],
            ]
    return {
      partition: i % PARTITIONS,
      key: i % 11 === 0 ? null : i % 13 === 0 && shape === 'full' ? Buffer.alloc(0) : Buffer.from(`key-${i % 97}`),
      value:
        i % 17 === 0 && (shape === 'full' || i % 11 !== 0)
          ? null
          : i % 19 === 0 && shape === 'full'
            ? Buffer.alloc(0)
            : i % 2 === 0
              ? text
              : binary,
      headers,
      timestampMs: base + i * 7 - (i % 23 === 0 ? 50 : 0),
    }
  })
}

/** Writes them as the clients read them: one JSON object a line, bytes in base64. */
export function writeRecords(path: string, records: readonly TestRecord[]): void {
  const text = (bytes: Buffer | null): string => (bytes === null ? 'null' : `"${bytes.toString('base64')}"`)
  const lines = records.map(
    (r) =>
      `{"p":${r.partition},"k":${text(r.key)},"v":${text(r.value)},"h":[${r.headers.map(([k, v]) => `[${JSON.stringify(k)},${text(v)}]`).join(',')}],"t":${r.timestampMs}}`,
  )
  writeFileSync(path, lines.join('\n') + '\n')
}

function blob(sum: Hash, value: Uint8Array | null): void {
  const length = Buffer.alloc(4)
  length.writeInt32BE(value === null ? -1 : value.length)
  sum.update(length)
  if (value !== null) sum.update(value)
}

/** How a reading client shows headers: as they are, grouped by key (objects, maps), or not at all. */
export type HeaderView = 'ordered' | 'grouped' | 'none'

/** What a reader must print: one line a partition, «partition count sha256», from offset `starts[partition]` on. */
export function expectedLines(records: readonly TestRecord[], view: HeaderView, starts: readonly number[] = []): string[] {
  return Array.from({ length: PARTITIONS }, (_, partition) => {
    const sum = createHash('sha256')
    const start = starts[partition] ?? 0
    const own = records.filter((record) => record.partition === partition)
    own.forEach((record, offset) => {
      if (offset < start) return
      const head = Buffer.alloc(16)
      head.writeBigInt64BE(BigInt(offset), 0)
      head.writeBigInt64BE(BigInt(record.timestampMs), 8)
      sum.update(head)
      blob(sum, record.key)
      blob(sum, record.value)
      const keys = [...new Set(record.headers.map(([key]) => key))]
      const headers =
        view === 'none' ? [] : view === 'ordered' ? record.headers : keys.flatMap((key) => record.headers.filter(([one]) => one === key))
      const count = Buffer.alloc(4)
      count.writeInt32BE(headers.length)
      sum.update(count)
      for (const [key, value] of headers) {
        blob(sum, Buffer.from(key))
        blob(sum, value)
      }
    })
    return `${partition} ${own.length - start} ${sum.digest('hex')}`
  })
}
