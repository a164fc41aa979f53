import { readFileSync } from 'node:fs'

/** What the recorded clients were asked to produce, one batch a set. `k` and `v` null or bytes; headers in order. */
export interface FixtureRecord {
  readonly t: number
  readonly k: Buffer | null
  readonly v: Buffer | null
  readonly h: readonly (readonly [Buffer, Buffer | null])[]
}

const T = 1700000000000
type Text = string | Buffer | null
const bytes = (text: Text): Buffer | null => (text === null ? null : Buffer.from(text as string))
const record = (t: number, k: Text, v: Text, h: [Text, Text][] = []): FixtureRecord => ({
  t,
  k: bytes(k),
  v: bytes(v),
  h: h.map(([name, value]) => [bytes(name)!, bytes(value)] as const),
})

/** Null against empty, a timestamp that goes back, repeated headers, bytes that are no UTF-8 (hazard A1). */
const edge = [
  record(T, 'k', null),
  record(T + 1, 'k', ''),
  record(T + 2, null, 'v'),
  record(T + 3, null, null),
  record(T - 5, '', ''),
  record(T + 4, 'key', 'value', [
    ['a', '1'],
    ['a', '2'],
    ['b', null],
    ['c', ''],
  ]),
  record(T + 86400000 * 40, 'späť ❄', Buffer.from([0, 255, 254, 128, 10]), [['ключ', Buffer.from([255, 0])]]),
]
const many = Array.from({ length: 500 }, (_, i) =>
  record(T + i, `key-${i % 7}`, `{"n":${i},"text":"frazil ice"}`, i % 50 === 0 ? [['n', String(i)]] : []),
)
/** More than one snappy block of 32 KiB. */
const big = Array.from({ length: 5 }, (_, i) => record(T + i, `k${i}`, `line ${i} of moving water\n`.repeat(1000)))

export const sets = { edge, many, big } as const
export type SetName = keyof typeof sets
export const clients = ['java', 'librdkafka', 'franz-go'] as const
export const codecNames = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

/** Every recorded combination; the big set is not kept uncompressed. */
export const recordings = clients.flatMap((client) =>
  codecNames.flatMap((codec) =>
    (Object.keys(sets) as SetName[]).filter((set) => set !== 'big' || codec !== 'none').map((set) => ({ client, codec, set })),
  ),
)

/** The batch as the client sent it, base offset 0. */
export function recording(client: string, codec: string, set: string): Buffer {
  return readFileSync(new URL(`../../fixtures/records/${client}-${codec}-${set}.bin`, import.meta.url))
}
