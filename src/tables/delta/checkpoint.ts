import { parquetReadObjects } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { addAction, removeAction } from './stage.ts'
import type { AddedRow, DeltaState, MetaData, Protocol, Tombstone } from './state.ts'

type SchemaElement = NonNullable<Parameters<typeof parquetWriteBuffer>[0]['schema']>[number]
type Repetition = 'REQUIRED' | 'OPTIONAL'
type Node = readonly SchemaElement[]

const leaf = (name: string, type: SchemaElement['type'], repetition: Repetition = 'OPTIONAL'): Node => [
  { name, type, repetition_type: repetition },
]
const text = (name: string, repetition: Repetition = 'OPTIONAL'): Node => [
  { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: repetition },
]
const group = (name: string, ...fields: Node[]): Node => [
  { name, repetition_type: 'OPTIONAL', num_children: fields.length },
  ...fields.flat(),
]
const textMap = (name: string): Node => [
  { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'MAP' },
  { name: 'key_value', repetition_type: 'REPEATED', num_children: 2 },
  ...text('key', 'REQUIRED'),
  ...text('value'),
]
const textList = (name: string): Node => [
  { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST' },
  { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
  ...text('element'),
]

/** The columns of a classic checkpoint (PROTOCOL.md, "Checkpoint Schema"): one struct column per kind of action. */
const COLUMNS = ['txn', 'add', 'remove', 'metaData', 'protocol'] as const
const SCHEMA: readonly SchemaElement[] = [
  { name: 'checkpoint', num_children: COLUMNS.length },
  ...group('txn', text('appId'), leaf('version', 'INT64'), leaf('lastUpdated', 'INT64')),
  ...group(
    'add',
    text('path'),
    textMap('partitionValues'),
    leaf('size', 'INT64'),
    leaf('modificationTime', 'INT64'),
    leaf('dataChange', 'BOOLEAN'),
    text('stats'),
  ),
  ...group(
    'remove',
    text('path'),
    leaf('deletionTimestamp', 'INT64'),
    leaf('dataChange', 'BOOLEAN'),
    leaf('extendedFileMetadata', 'BOOLEAN'),
    textMap('partitionValues'),
    leaf('size', 'INT64'),
  ),
  ...group(
    'metaData',
    text('id'),
    text('name'),
    text('description'),
    group('format', text('provider'), textMap('options')),
    text('schemaString'),
    textList('partitionColumns'),
    textMap('configuration'),
    leaf('createdTime', 'INT64'),
  ),
  ...group(
    'protocol',
    leaf('minReaderVersion', 'INT32'),
    leaf('minWriterVersion', 'INT32'),
    textList('readerFeatures'),
    textList('writerFeatures'),
  ),
]

/** What a checkpoint holds; plain data, so that a thread can make it. */
export interface CheckpointContent {
  readonly appId: string
  readonly publication: number
  readonly txnMs: number
  readonly protocol: Protocol
  readonly metaData: MetaData
  readonly live: readonly AddedRow[]
  readonly tombstones: readonly Tombstone[]
}

export function checkpointOf(state: DeltaState, app: string): CheckpointContent {
  const { publication, txnMs, protocol, metaData } = state
  return {
    appId: app,
    publication,
    txnMs,
    protocol: protocol!,
    metaData: metaData!,
    live: [...state.live.values()],
    tombstones: [...state.tombstones.values()],
  }
}

/** Rows that a checkpoint of this content has. */
export function checkpointRows(content: CheckpointContent): number {
  return content.live.length + content.tombstones.length + 3
}

/** 64-bit columns take BigInt from hyparquet-writer. */
function longs(action: object): object {
  return Object.fromEntries(
    Object.entries(action).map(([name, value]) => [name, typeof value === 'number' && !name.startsWith('min') ? BigInt(value) : value]),
  )
}

/** Writes a classic checkpoint: every action that reconstructs the state, features of the protocol included (hazard L2). */
export function encodeCheckpoint(content: CheckpointContent): Uint8Array {
  const rows: { readonly [Column in (typeof COLUMNS)[number]]?: object }[] = [
    { protocol: { readerFeatures: undefined, writerFeatures: undefined, ...content.protocol } },
    { metaData: longs(content.metaData) },
    { txn: longs({ appId: content.appId, version: content.publication, lastUpdated: content.txnMs }) },
    ...content.live.map((row) => ({ add: longs(addAction(row, false)) })),
    ...content.tombstones.map((row) => ({ remove: longs(removeAction(row, false)) })),
  ]
  const columnData = COLUMNS.map((name) => ({ name, data: rows.map((row) => row[name] ?? null) }))
  return new Uint8Array(parquetWriteBuffer({ columnData, schema: [...SCHEMA], codec: 'SNAPPY', statistics: false }))
}

/** The actions of a checkpoint, in the form that a version's file has them. Errors: of hyparquet, when it does not read. */
export async function decodeCheckpoint(bytes: Uint8Array): Promise<Record<string, object>[]> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  const rows = (await parquetReadObjects({ file, compressors })) as Record<string, object | null | undefined>[]
  return rows.map((row) => {
    const [name, action] = Object.entries(row).find(([, value]) => value !== null && value !== undefined) ?? ['', {}]
    return { [name]: plain(action) as object }
  })
}

/** As JSON has it: numbers, absent instead of null. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([, one]) => one !== null && one !== undefined)
  return Object.fromEntries(kept.map(([name, one]) => [name, plain(one)]))
}
