import { describe, expect, it } from 'vitest'
import { decodeCheckpoint, encodeCheckpoint, checkpointOf } from '../../../../src/tables/delta/checkpoint.ts'
import { deltaSchema } from '../../../../src/tables/delta/schema.ts'
import { encodePath, protocolOf, stageDelta, stageStop } from '../../../../src/tables/delta/stage.ts'
import { appId, EMPTY, isStopped, parseActions, replay, type DeltaState } from '../../../../src/tables/delta/state.ts'
import { deltaStats } from '../../../../src/tables/delta/stats.ts'
import type { Schema } from '../../../../src/tables/iceberg/types.ts'
import type { LiveFile, Target } from '../../../../src/tables/replicas/port.ts'
import { ROW_SCHEMA } from '../../../../src/tables/row/schema.ts'

const table = {
  uuid: '00000000-0000-4000-8000-000000000001',
  namespace: 'default',
  location: 'tables/default/orders-1234abcd',
  createdMs: 1_700_000_000_000,
  topicName: 'orders',
  topicId: '1234abcd-0000-4000-8000-000000000001',
}
const app = appId(table.uuid)

function file(name: string, rows = 3, metrics: Partial<LiveFile['file']['metrics']> = {}): LiveFile {
  const none = { columnSizes: [], valueCounts: [], nullValueCounts: [], lowerBounds: [], upperBounds: [], splitOffsets: [] }
  return {
    key: `${table.location}/data/${name}`,
    file: {
      path: `file:///x/${name}`,
      recordCount: rows,
      sizeBytes: 100,
      metrics: { ...none, ...metrics },
      partition: [],
      firstRowId: null,
    },
    ranges: null,
  }
}

function target(publication: number, files: readonly LiveFile[], more: Partial<Target> = {}): Target {
  return {
    table,
    publication,
    schema: ROW_SCHEMA,
    schemas: [ROW_SCHEMA],
    files,
    dataChange: true,
    nowMs: 1_700_000_001_000 + publication,
    graceMs: 86_400_000,
    ...more,
  }
}

/** The actions of a staged version, and the state that its bytes give when they are read back. */
function commit(state: DeltaState, to: Target): { actions: Record<string, any>[]; state: DeltaState } {
  const staged = stageDelta(state, to)!
  const lines = [
    ...staged.head,
    ...staged.removed.map((row) => JSON.stringify({ remove: { path: row.path, size: row.sizeBytes, deletionTimestamp: row.deletedMs } })),
  ]
  for (const { line } of staged.added) lines.push(line())
  const actions = parseActions(lines.join('\n')) as Record<string, any>[]
  const read = replay(state, staged.version, actions, app)
  expect(staged.next(staged.added.map((one) => one.row))).toEqual(read)
  return { actions, state: read }
}

describe('staging a Delta version', () => {
  it('begins with the lowest protocol, the table and its files under the publication number', () => {
    const { actions, state } = commit(EMPTY, target(4, [file('a'), file('b')]))
    expect(actions.map((action) => Object.keys(action)[0])).toEqual(['commitInfo', 'protocol', 'metaData', 'txn', 'add', 'add'])
    expect(actions[1]!['protocol']).toEqual({ minReaderVersion: 1, minWriterVersion: 2 })
    expect(actions[3]!['txn']).toEqual({ appId: app, version: 4, lastUpdated: 1_700_000_001_004 })
    expect(actions[4]!['add'].path).toBe('data/a')
    expect(state.publication).toBe(4)
  })

  it('writes the difference, marks merges, and nothing twice', () => {
    const first = commit(EMPTY, target(1, [file('a'), file('b')])).state
    expect(stageDelta(first, target(1, [file('a'), file('b')]))).toBeNull()
    expect(stageDelta(first, target(2, [file('a'), file('b')]))).toBeNull()
    const merged = commit(first, target(3, [file('c', 6)], { dataChange: false }))
    expect(merged.actions.slice(2).map((action) => [Object.keys(action)[0], Object.values(action)[0].path])).toEqual([
      ['remove', 'data/a'],
      ['remove', 'data/b'],
      ['add', 'data/c'],
    ])
    expect(merged.actions[0]!['commitInfo'].operation).toBe('OPTIMIZE')
    expect(merged.actions.at(-1)!['add'].dataChange).toBe(false)
    expect([...merged.state.tombstones.keys()]).toEqual(['data/a', 'data/b'])
    // a slow process with an older publication changes nothing
    expect(stageDelta(merged.state, target(2, [file('a'), file('b')]))).toBeNull()
  })

  it('drops tombstones after the grace time', () => {
    const first = commit(EMPTY, target(1, [file('a')])).state
    const second = commit(first, target(2, [file('b')])).state
    const later = stageDelta(second, target(3, [file('c')], { nowMs: second.txnMs + 86_400_001 }))!
    expect([...later.next([]).tombstones.keys()]).toEqual(['data/b'])
  })

  it('takes up column mapping when a name needs it, and keeps it', () => {
    const awkward = { ...ROW_SCHEMA, fields: [...ROW_SCHEMA.fields, { id: 100, name: 'a b', required: false, type: 'string' }] } as Schema
    const first = commit(EMPTY, target(1, [file('a')])).state
    const { actions, state } = commit(first, target(2, [file('a')], { schema: awkward }))
    expect(actions.map((action) => Object.keys(action)[0])).toEqual(['commitInfo', 'protocol', 'metaData', 'txn'])
    expect(actions[1]!['protocol']).toEqual({ minReaderVersion: 2, minWriterVersion: 5 })
    expect(actions[2]!['metaData'].configuration).toMatchObject({
      'delta.columnMapping.mode': 'name',
      'delta.columnMapping.maxColumnId': '100',
    })
    const back = commit(state, target(3, [file('a')])).actions
    expect(back[1]!['metaData'].configuration).toMatchObject({
      'delta.columnMapping.mode': 'name',
      'delta.columnMapping.maxColumnId': '100',
    })
  })

  it('ends with a version that says so, once, and goes on when it is switched on again', () => {
    const first = commit(EMPTY, target(1, [file('a')])).state
    const end = stageStop(first, 5)!
    const stopped = replay(first, end.version, parseActions(end.lines.join('\n')), app)
    expect(isStopped(stopped)).toBe(true)
    expect(stageStop(stopped, 6)).toBeNull()
    expect(stageStop(EMPTY, 6)).toBeNull()
    const { state } = commit(stopped, target(1, [file('a')]))
    expect(isStopped(state)).toBe(false)
    expect(state.version).toBe(2)
  })

  it('escapes paths', () => expect(encodePath('data/a b%/ü.parquet')).toBe('data/a%20b%25/%C3%BC.parquet'))
})

describe('Delta schema and protocol', () => {
  it('lists every feature that a timestamp without zone needs (hazard L1)', () => {
    const schema = { type: 'struct', 'schema-id': 1, fields: [{ id: 100, name: 't', required: false, type: 'timestamp' }] } as Schema
    expect(deltaSchema(schema, false)).toMatchObject({ zoneless: true, mapped: false })
    expect(protocolOf(false, true)).toEqual({
      minReaderVersion: 3,
      minWriterVersion: 7,
      readerFeatures: ['timestampNtz'],
      writerFeatures: ['timestampNtz'],
    })
    expect(protocolOf(true, true).writerFeatures).toEqual(['columnMapping', 'timestampNtz'])
  })

  it('leaves out what Delta has no type for, wherever it stands', () => {
    const schema = {
      type: 'struct',
      'schema-id': 1,
      fields: [
        { id: 100, name: 'time', required: false, type: 'time' },
        {
          id: 101,
          name: 's',
          required: false,
          type: {
            type: 'struct',
            fields: [
              { id: 102, name: 'u', required: false, type: 'uuid' },
              { id: 103, name: 'd', required: false, type: 'decimal(9, 2)' },
            ],
          },
        },
        { id: 104, name: 'l', required: false, type: { type: 'list', 'element-id': 105, element: 'time', 'element-required': false } },
        {
          id: 106,
          name: 'm',
          required: false,
          type: { type: 'map', 'key-id': 107, key: 'string', 'value-id': 108, value: 'date', 'value-required': true },
        },
      ],
    } as unknown as Schema
    const { fields } = JSON.parse(deltaSchema(schema, false).schemaString) as { fields: object[] }
    expect(fields).toEqual([
      {
        name: 's',
        type: { type: 'struct', fields: [{ name: 'd', type: 'decimal(9,2)', nullable: true, metadata: {} }] },
        nullable: true,
        metadata: {},
      },
      { name: 'm', type: { type: 'map', keyType: 'string', valueType: 'date', valueContainsNull: false }, nullable: true, metadata: {} },
    ])
  })
})

describe('Delta statistics', () => {
  const schema = {
    type: 'struct',
    'schema-id': 1,
    fields: ['long', 'timestamptz', 'decimal(20, 4)', 'double', 'date', 'binary', 'string', 'double'].map((type, i) => ({
      id: 100 + i,
      name: `c${i}`,
      required: false,
      type,
    })),
  } as unknown as Schema
  const long = (value: bigint): Buffer => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(value)
    return bytes
  }
  const double = (value: number): Buffer => {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value)
    return bytes
  }
  const date = Buffer.from([0xff, 0xff, 0xff, 0xff])
  it('are exact, or wider, never narrower', () => {
    const bounds = (pairs: [number, Buffer][]): [number, Buffer][] => pairs
    const text = deltaStats(
      file('a', 9, {
        nullValueCounts: [[100, 2]],
        nanValueCounts: [[107, 0]],
        lowerBounds: bounds([
          [100, long(-(2n ** 63n))],
          [101, long(-1n)],
          [102, Buffer.from('ff7f', 'hex')],
          [103, double(-0)],
          [104, date],
          [105, Buffer.from('a')],
          [106, Buffer.from('é')],
          [107, double(1)],
        ]),
        upperBounds: bounds([
          [100, long(2n ** 53n + 1n)],
          [101, long(1001n)],
          [102, Buffer.from('0081', 'hex')],
          [103, double(5)],
          [104, date],
          [105, Buffer.from('b')],
          [107, double(Number.POSITIVE_INFINITY)],
        ]),
      }).file,
      schema,
    )
    expect(text).toBe(
      '{"numRecords":9,"minValues":{"c0":-9223372036854775808,"c1":"1969-12-31T23:59:59.999Z","c2":-0.0129,"c3":0,"c4":"1969-12-31","c6":"é","c7":1},' +
        '"maxValues":{"c0":9007199254740993,"c1":"1970-01-01T00:00:00.002Z","c2":0.0129,"c4":"1969-12-31"},"nullCount":{"c0":2}}',
    )
  })

  it('leave out instants that readers cannot parse', () => {
    const text = deltaStats(
      file('a', 1, { lowerBounds: [[101, long(-(2n ** 63n))]], upperBounds: [[101, long(2n ** 63n - 1n)]] }).file,
      schema,
    )
    expect(JSON.parse(text)).toEqual({ numRecords: 1, minValues: {}, maxValues: {}, nullCount: {} })
  })
})

describe('a checkpoint', () => {
  it('holds all that its versions said, features too (hazard L2)', async () => {
    const zoneless = {
      ...ROW_SCHEMA,
      fields: [...ROW_SCHEMA.fields, { id: 100, name: 'a b', required: false, type: 'timestamp' }],
    } as Schema
    const first = commit(EMPTY, target(1, [file('a'), file('b')], { schema: zoneless })).state
    const { state } = commit(first, target(7, [file('b'), file('c')], { schema: zoneless }))
    const actions = await decodeCheckpoint(encodeCheckpoint(checkpointOf(state, app)))
    expect(replay(EMPTY, state.version, actions as never, app)).toEqual(state)
    expect(state.protocol!.readerFeatures).toEqual(['columnMapping', 'timestampNtz'])
  })
})
