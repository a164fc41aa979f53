import { describe, expect, it } from 'vitest'
import { binaryRow, EMPTY_ROW } from '../../../../src/tables/paimon/binaryRow.ts'
import { decodeEntries, encodeEntries, Kind, type FileMeta } from '../../../../src/tables/paimon/manifest.ts'
import { paimonFields } from '../../../../src/tables/paimon/schema.ts'
import { NO_STATS, valueStats } from '../../../../src/tables/paimon/stats.ts'
import type { DataFile, Schema } from '../../../../src/tables/iceberg/types.ts'

describe('the bytes of a Paimon row', () => {
  // As Paimon's own writers serialize them (fixtures of apache/paimon-rust).
  it('are those of Paimon', () => {
    expect(binaryRow([{ kind: 'int', value: 1 }]).toString('hex')).toBe('0000000100000000000000000100000000000000')
    expect(
      binaryRow([
        { kind: 'string', value: '1' },
        { kind: 'int', value: 1 },
      ]).toString('hex'),
    ).toBe('00000002000000000000000031000000000000810100000000000000')
    expect(EMPTY_ROW.toString('hex')).toBe('00'.repeat(12))
  })

  it('put what is long, and microseconds, behind the slots', () => {
    const row = binaryRow([null, { kind: 'string', value: 'eight by' }, { kind: 'micros', value: -1n }])
    expect(row.toString('hex')).toBe(
      '00000003000100000000000000000000000000000800000020000000583e0f0028000000' +
        Buffer.from('eight by').toString('hex') +
        'ffffffffffffffff',
    )
  })

  it('keep a second word of null bits from 57 fields on', () => {
    expect(binaryRow(Array.from({ length: 56 }, () => null)).length).toBe(4 + 8 + 56 * 8)
    expect(binaryRow(Array.from({ length: 57 }, () => null)).length).toBe(4 + 16 + 57 * 8)
  })
})

describe('a Paimon manifest', () => {
  it('is read back as it was written', async () => {
    const file: FileMeta = {
      _FILE_NAME: 'a.parquet',
      _FILE_SIZE: 10,
      _ROW_COUNT: 3,
      _MIN_KEY: EMPTY_ROW,
      _MAX_KEY: EMPTY_ROW,
      _KEY_STATS: NO_STATS,
      _VALUE_STATS: { _MIN_VALUES: EMPTY_ROW, _MAX_VALUES: EMPTY_ROW, _NULL_COUNTS: [null, 4] },
      _MIN_SEQUENCE_NUMBER: 0,
      _MAX_SEQUENCE_NUMBER: 2 ** 40,
      _SCHEMA_ID: 1,
      _LEVEL: 0,
      _EXTRA_FILES: [],
      _CREATION_TIME: 5,
      _DELETE_ROW_COUNT: 0,
      _EMBEDDED_FILE_INDEX: null,
      _FILE_SOURCE: 1,
      _VALUE_STATS_COLS: ['a', 'b'],
      _EXTERNAL_PATH: 'file:///x/a.parquet',
      _FIRST_ROW_ID: null,
      _WRITE_COLS: null,
    }
    const entries = [
      { kind: Kind.add, file },
      { kind: Kind.delete, file },
    ]
    const read = await decodeEntries(await encodeEntries(entries, Buffer.alloc(16)))
    expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(entries)))
  })
})

describe('Paimon schema and statistics', () => {
  it('spell types as Paimon does and leave out what it reads otherwise', () => {
    const fields = [
      { id: 100, name: 'd', required: true, type: 'decimal(9, 2)' },
      { id: 101, name: 't', required: false, type: 'time' },
      {
        id: 102,
        name: 's',
        required: false,
        type: { type: 'struct' as const, fields: [{ id: 103, name: 'u', required: false, type: 'uuid' }] },
      },
      {
        id: 104,
        name: 'm',
        required: false,
        type: { type: 'map' as const, 'key-id': 105, key: 'string', 'value-id': 106, value: 'double', 'value-required': false },
      },
    ]
    expect(paimonFields(fields)).toEqual([
      { id: 100, name: 'd', type: 'DECIMAL(9, 2) NOT NULL' },
      { id: 104, name: 'm', type: { type: 'MAP', key: 'STRING NOT NULL', value: 'DOUBLE' } },
    ])
  })

  it('say nothing of what is not known', () => {
    const schema = {
      type: 'struct',
      'schema-id': 0,
      fields: ['string', 'double', 'binary', 'decimal(20, 1)', 'int', 'timestamptz'].map((type, i) => ({
        id: i + 1,
        name: `c${i}`,
        required: false,
        type,
      })),
    } as unknown as Schema
    const int = Buffer.from([5, 0, 0, 0])
    const far = Buffer.from('ffffffffffffff7f', 'hex')
    const file = {
      path: '',
      recordCount: 4,
      sizeBytes: 1,
      metrics: {
        columnSizes: [],
        valueCounts: [],
        nullValueCounts: [1, 2, 3, 4, 5, 6].map((id) => [id, id] as const),
        splitOffsets: [],
        lowerBounds: [
          [1, Buffer.from('a')],
          [2, Buffer.alloc(8)],
          [3, Buffer.from('x')],
          [5, int],
          [6, far],
        ],
        upperBounds: [
          [2, Buffer.alloc(8)],
          [5, int],
          [6, far],
        ],
      },
      partition: [],
      firstRowId: null,
    } as DataFile
    const { columns, min, max, nullCounts } = valueStats(file, schema, new Set(['c0', 'c1', 'c2', 'c3', 'c4', 'c5']))
    expect(columns).toEqual(['c0', 'c1', 'c4', 'c5'])
    expect(nullCounts).toEqual([1, 2, 5, 6])
    expect(min).toEqual(binaryRow([{ kind: 'string', value: 'a' }, null, { kind: 'int', value: 5 }, null]))
    expect(max).toEqual(binaryRow([null, null, { kind: 'int', value: 5 }, null]))
  })
})
