import { avroType } from '../iceberg/avroTypes.ts'
import { readContainer, writeContainer } from '../iceberg/container.ts'
import { EMPTY_ROW } from './binaryRow.ts'

const optional = (name: string, type: unknown): object => ({ name, type: ['null', type], default: null })
const stats = (name: string): object => ({
  type: 'record',
  name,
  fields: [
    { name: '_MIN_VALUES', type: 'bytes' },
    { name: '_MAX_VALUES', type: 'bytes' },
    optional('_NULL_COUNTS', { type: 'array', items: ['null', 'long'] }),
  ],
})

/**
 * Paimon's ManifestEntry and DataFileMeta. The newest Java reader takes exactly these six top-level fields, in this order;
 * nullable ones are unions with null first.
 */
const ENTRY = {
  type: 'record',
  name: 'ManifestEntry',
  fields: [
    { name: '_VERSION', type: 'int' },
    { name: '_KIND', type: 'int' },
    { name: '_PARTITION', type: 'bytes' },
    { name: '_BUCKET', type: 'int' },
    { name: '_TOTAL_BUCKETS', type: 'int' },
    {
      name: '_FILE',
      type: {
        type: 'record',
        name: 'DataFileMeta',
        fields: [
          { name: '_FILE_NAME', type: 'string' },
          { name: '_FILE_SIZE', type: 'long' },
          { name: '_ROW_COUNT', type: 'long' },
          { name: '_MIN_KEY', type: 'bytes' },
          { name: '_MAX_KEY', type: 'bytes' },
          { name: '_KEY_STATS', type: stats('record_KEY_STATS') },
          { name: '_VALUE_STATS', type: stats('record_VALUE_STATS') },
          { name: '_MIN_SEQUENCE_NUMBER', type: 'long' },
          { name: '_MAX_SEQUENCE_NUMBER', type: 'long' },
          { name: '_SCHEMA_ID', type: 'long' },
          { name: '_LEVEL', type: 'int' },
          { name: '_EXTRA_FILES', type: { type: 'array', items: 'string' } },
          optional('_CREATION_TIME', { type: 'long', logicalType: 'timestamp-millis' }),
          optional('_DELETE_ROW_COUNT', 'long'),
          optional('_EMBEDDED_FILE_INDEX', 'bytes'),
          optional('_FILE_SOURCE', 'int'),
          optional('_VALUE_STATS_COLS', { type: 'array', items: 'string' }),
          optional('_EXTERNAL_PATH', 'string'),
          optional('_FIRST_ROW_ID', 'long'),
          optional('_WRITE_COLS', { type: 'array', items: 'string' }),
        ],
      },
    },
  ],
} as const

/** Paimon's ManifestFileMeta. */
const FILE = {
  type: 'record',
  name: 'ManifestFileMeta',
  fields: [
    { name: '_VERSION', type: 'int' },
    { name: '_FILE_NAME', type: 'string' },
    { name: '_FILE_SIZE', type: 'long' },
    { name: '_NUM_ADDED_FILES', type: 'long' },
    { name: '_NUM_DELETED_FILES', type: 'long' },
    { name: '_PARTITION_STATS', type: stats('record_PARTITION_STATS') },
    { name: '_SCHEMA_ID', type: 'long' },
  ],
} as const

const ENTRY_TEXT = JSON.stringify(ENTRY)
const ENTRY_TYPE = avroType(ENTRY)
const FILE_TEXT = JSON.stringify(FILE)
const FILE_TYPE = avroType(FILE)
const VERSION = 2

export const Kind = { add: 0, delete: 1 } as const

/** `_FILE` of an entry, as Avro has it. */
export interface FileMeta {
  readonly _FILE_NAME: string
  readonly _FILE_SIZE: number
  readonly _ROW_COUNT: number
  readonly _EXTERNAL_PATH: string | null
  readonly _SCHEMA_ID: number
  readonly [field: string]: unknown
}

export interface Entry {
  readonly kind: number
  readonly file: FileMeta
}

export interface ManifestMeta {
  readonly name: string
  readonly sizeBytes: number
  readonly added: number
  readonly deleted: number
  readonly schemaId: number
}

export function encodeEntries(entries: readonly Entry[], sync: Uint8Array): Promise<Buffer> {
  const toRow = ({ kind, file }: Entry): object => ({
    _VERSION: VERSION,
    _KIND: kind,
    _PARTITION: EMPTY_ROW,
    _BUCKET: 0,
    _TOTAL_BUCKETS: -1,
    _FILE: file,
  })
  return writeContainer(ENTRY_TYPE, ENTRY_TEXT, {}, entries, toRow, sync)
}

export async function decodeEntries(bytes: Buffer): Promise<Entry[]> {
  const toItem = (row: unknown): Entry => {
    const { _KIND, _FILE } = row as { readonly _KIND: number; readonly _FILE: FileMeta }
    return { kind: _KIND, file: _FILE }
  }
  return (await readContainer(bytes, avroType, toItem)).items
}

export function encodeManifestFiles(files: readonly ManifestMeta[], sync: Uint8Array): Promise<Buffer> {
  const toRow = (meta: ManifestMeta): object => ({
    _VERSION: VERSION,
    _FILE_NAME: meta.name,
    _FILE_SIZE: meta.sizeBytes,
    _NUM_ADDED_FILES: meta.added,
    _NUM_DELETED_FILES: meta.deleted,
    _PARTITION_STATS: { _MIN_VALUES: EMPTY_ROW, _MAX_VALUES: EMPTY_ROW, _NULL_COUNTS: [] },
    _SCHEMA_ID: meta.schemaId,
  })
  return writeContainer(FILE_TYPE, FILE_TEXT, {}, files, toRow, sync)
}

export async function decodeManifestFiles(bytes: Buffer): Promise<ManifestMeta[]> {
  const toItem = (row: unknown): ManifestMeta => {
    const meta = row as Record<string, number> & { readonly _FILE_NAME: string }
    return {
      name: meta._FILE_NAME,
      sizeBytes: meta['_FILE_SIZE']!,
      added: meta['_NUM_ADDED_FILES']!,
      deleted: meta['_NUM_DELETED_FILES']!,
      schemaId: meta['_SCHEMA_ID']!,
    }
  }
  return (await readContainer(bytes, avroType, toItem)).items
}
