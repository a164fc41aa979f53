import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { BatchBuilder } from '../../../../protocol/records/build.ts'
import { growTyping, type Newcomer } from '../../../../src/schemas/typing/grow.ts'
import { EMPTY_TYPING, type Typing } from '../../../../src/schemas/typing/typing.ts'
import { RowFileEncoder } from '../../../../src/tables/parquet/encoder.ts'
import { indexFile, openGroup } from '../../../../src/tables/parquet/fileIndex.ts'
import { BATCH_BYTES, batchesOf } from '../../../../src/tables/readback/batches.ts'
import { resolveUnknown } from '../../../../src/tables/typed/resolve.ts'
import { unknownKey } from '../../../../src/tables/typed/side.ts'
import type { ResolvedSchema, SchemaSource } from '../../../../src/schemas/source.ts'
import { RecordCursor } from '../../../../protocol/records/walk.ts'
import { BATCH_HEADER_BYTES, batchRecordCount } from '../../../../protocol/records/header.ts'

/** A source over schemas given as id → schema. */
export function sourceOf(schemas: Readonly<Record<number, Partial<ResolvedSchema>>>): SchemaSource {
  const full = (id: number): ResolvedSchema | null =>
    schemas[id] === undefined ? null : ({ id, guid: '', type: 'AVRO', schema: '', references: [], ...schemas[id] } as ResolvedSchema)
  return {
    byId: async (id) => full(id),
    byGuid: async (guid) =>
      Object.keys(schemas)
        .map((id) => full(Number(id))!)
        .find((one) => one.guid === guid) ?? null,
    latest: async () => null,
  }
}

export function frame(id: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(id, 1)
  return Buffer.concat([head, payload])
}

export interface Row {
  readonly key?: Uint8Array | null
  readonly value: Uint8Array | null
  /** Wire form, the count included. */
  readonly headers?: Uint8Array | null
}

export function batchOf(rows: readonly Row[]): Uint8Array {
  const builder = new BatchBuilder()
  rows.forEach(({ key = null, value, headers = null }, i) =>
    builder.append(
      i,
      1_700_000_000_000 + i,
      key,
      key === null ? -1 : 0,
      key?.length ?? -1,
      value,
      value === null ? -1 : 0,
      value?.length ?? -1,
      headers,
      0,
      headers?.length ?? 0,
    ),
  )
  return builder.finish()
}

export interface Made {
  readonly bytes: Buffer
  readonly typing: Typing
  readonly stats: ReturnType<RowFileEncoder['finish']>
  readonly counts: { readonly exact: number; readonly raw: number; readonly undecodable: number }
}

/** Rows to a file as a conversion does it: schemas that turn up are asked for, then the file is made again. */
export async function makeFile(
  rows: readonly Row[],
  source: SchemaSource,
  options: {
    readonly typing?: Typing
    readonly keys?: boolean
    readonly newcomers?: readonly Newcomer[]
    readonly pageRows?: number
    readonly setting?: string
  } = {},
): Promise<Made> {
  let typing = options.typing ?? EMPTY_TYPING
  const givenUp = new Set<string>()
  const batch = batchOf(rows)
  for (let i = 0; i < 20; i++) {
    const typed = { typing, keys: options.keys ?? false, values: true, givenUp, setting: options.setting ?? null }
    const encoder = new RowFileEncoder({ typed, ...(options.pageRows === undefined ? {} : { pageRows: options.pageRows }) })
    encoder.addBatches(0, 0, batch)
    if (encoder.unknown.length === 0) {
      const counts = { ...encoder.counts! }
      const stats = encoder.finish()
      return { bytes: Buffer.concat(stats.chunks), typing, stats, counts }
    }
    const { newcomers, givenUp: lost } = await resolveUnknown(encoder.unknown, source, typing, options.setting ?? null)
    for (const key of lost) givenUp.add(key)
    const grown = growTyping(typing, newcomers)
    typing = grown.typing
    if (grown.refused.length > 0) for (const one of encoder.unknown) givenUp.add(unknownKey(one))
  }
  throw new Error('schemas turned up again and again')
}

/** Keys and values as they come back from a file. */
export async function rowsBack(bytes: Buffer, typing: Typing): Promise<Row[]> {
  const index = indexFile(bytes)
  const rows: Row[] = []
  for (const group of index.groups) {
    const source = await openGroup(
      group,
      index.footer,
      Uint8Array.from(bytes.subarray(group.start, group.end)),
      index.userLeaves,
      typing.fields,
    )
    for (const batch of batchesOf(source, BATCH_BYTES, typing).batches) {
      const payload = batch.subarray(BATCH_HEADER_BYTES)
      const record = new RecordCursor().reset(payload, 0, payload.length, batchRecordCount(batch))
      const part = (start: number, end: number): Uint8Array | null => (start < 0 ? null : Buffer.from(payload.subarray(start, end)))
      while (record.next()) rows.push({ key: part(record.keyStart, record.keyEnd), value: part(record.valueStart, record.valueEnd) })
    }
  }
  return rows
}

/** The file's rows as hyparquet reads them. */
export async function objectsOf({ bytes }: Made): Promise<Record<string, unknown>[]> {
  const file = { byteLength: bytes.length, slice: (start: number, end?: number) => Uint8Array.from(bytes.subarray(start, end)).buffer }
  return (await parquetReadObjects({ file, metadata: parquetMetadata(Uint8Array.from(bytes).buffer), compressors })) as Record<
    string,
    unknown
  >[]
}
