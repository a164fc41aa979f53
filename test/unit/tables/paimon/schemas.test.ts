import { describe, expect, it } from 'vitest'
import type { IcebergField } from '../../../../src/schemas/columns/types.ts'
import { historyOf, type PaimonSchema } from '../../../../src/tables/paimon/schema.ts'
import { stagePaimon, stageSchema } from '../../../../src/tables/paimon/stage.ts'
import { EMPTY, type PaimonState } from '../../../../src/tables/paimon/state.ts'
import type { LiveFile, Target } from '../../../../src/tables/replicas/port.ts'
import { tableSchema } from '../../../../src/tables/row/schema.ts'

const field = (id: number, name: string): IcebergField => ({ id, name, required: false, type: 'long' })
const struct = (...fields: IcebergField[]): IcebergField => ({ id: 100, name: 's', required: false, type: { type: 'struct', fields } })
const schemas = [tableSchema(0, []), tableSchema(1, [struct(field(101, 'a'))]), tableSchema(2, [struct(field(101, 'a'), field(102, 'b'))])]
const table = { uuid: 'u', namespace: 'default', location: 'tables/default/t-00000000', createdMs: 1, topicName: 't', topicId: 'i' }
const file = (name: string, ids: readonly number[]): LiveFile => ({
  key: `${table.location}/data/${name}`,
  file: {
    path: name,
    recordCount: 1,
    sizeBytes: 1,
    metrics: {
      columnSizes: ids.map((id) => [id, 1] as const),
      valueCounts: [],
      nullValueCounts: [],
      lowerBounds: [],
      upperBounds: [],
      splitOffsets: [],
    },
    partition: [],
    firstRowId: null,
  },
  ranges: null,
})

const withSchema = (state: PaimonState, schemaId: number, schema: PaimonSchema): PaimonState => {
  const history = [...state.history, historyOf(schemaId, schema)]
  return { ...state, schemaId, schema, history }
}

describe('schemas of a Paimon table that is published late', () => {
  it('are all that it had, and each file has the one whose columns it has (T13)', async () => {
    const log = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16]
    const files = [file('old', log), file('middle', [101, ...log]), file('new', [101, 102, ...log])]
    const target: Target = { table, publication: 5, schema: schemas[2]!, schemas, files, dataChange: true, nowMs: 1, graceMs: 1 }
    let state: PaimonState = EMPTY
    for (let schema = stageSchema(state, target); schema !== null; schema = stageSchema(state, target)) {
      const schemaId = state.schemaId + 1
      state = withSchema(state, schemaId, schema)
    }
    expect(state.history.map(({ leaves }) => leaves.filter((id) => id >= 100))).toEqual([[], [101], [101, 102]])
    const commit = (await stagePaimon(state, target, '00000000-0000-4000-8000-000000000000', (key) => key))!
    expect([...commit.next.live.values()].map((meta) => [meta._FILE_NAME, meta._SCHEMA_ID])).toEqual([
      ['old', 0],
      ['middle', 1],
      ['new', 2],
    ])
    expect(commit.snapshot.schemaId).toBe(2)
  })
})
