// L3: two writers put the same N.json and rows are lost. L4: a commit is reported as failed although it is in the log, or
// the other way round. L5: a commit that is replayed under the same transaction id adds its rows again.
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { silentLogger } from '../../src/base/log.ts'
import type { Metadata } from '../../src/metadata/port.ts'
import { MemoryStore } from '../../src/storage/memory.ts'
import { Checkpoints } from '../../src/tables/delta/checkpoints.ts'
import { readLog } from '../../src/tables/delta/log.ts'
import { DeltaReplica } from '../../src/tables/delta/replica.ts'
import { readTable, snapshotIds } from '../../src/tables/paimon/log.ts'
import { PaimonReplica } from '../../src/tables/paimon/replica.ts'
import type { LiveFile, Replica, Target } from '../../src/tables/replicas/port.ts'
import { ROW_SCHEMA } from '../../src/tables/row/schema.ts'
import { randomUUID } from 'node:crypto'

const table = {
  uuid: '00000000-0000-4000-8000-000000000001',
  namespace: 'default',
  location: 'tables/default/orders-1234abcd',
  createdMs: 1,
  topicName: 'orders',
  topicId: 'id',
}
const file = (n: number): LiveFile => ({
  key: `${table.location}/data/1-${n}.parquet`,
  file: {
    path: `memory:///${n}`,
    recordCount: 10,
    sizeBytes: 100,
    metrics: { columnSizes: [], valueCounts: [], nullValueCounts: [], lowerBounds: [], upperBounds: [], splitOffsets: [] },
    partition: [],
    firstRowId: null,
  },
  ranges: null,
})
const target = (publication: number): Target => ({
  table,
  publication,
  schema: ROW_SCHEMA,
  schemas: [ROW_SCHEMA],
  files: Array.from({ length: publication }, (_, n) => file(n)),
  dataChange: true,
  nowMs: 1000 + publication,
  graceMs: 3_600_000,
})
const LAST = 40
const discarded = { propose: async () => ({ kind: 'ok' }) } as unknown as Metadata

async function race(make: () => Replica): Promise<void> {
  // two processes: each takes every publication, in its own time
  const follow = async (replica: Replica, odd: number): Promise<void> => {
    for (let publication = 1; publication <= LAST; publication++) {
      if (publication % 2 === odd) await new Promise((resolve) => setTimeout(resolve, 1))
      await replica.publish(target(publication))
      // replayed, it changes nothing
      await replica.publish(target(publication))
    }
    await replica.close()
  }
  await Promise.all([follow(make(), 0), follow(make(), 1)])
}

describe('two processes publish the same table', () => {
  it('in Delta: each file once, nothing lost', async () => {
    const store = new MemoryStore()
    await race(() => new DeltaReplica({ store, metadata: discarded, clock: systemClock, logger: silentLogger }))
    const state = await readLog(store, new Checkpoints(), table.location, table.uuid)
    expect(state.live.size).toBe(LAST)
    expect(state.publication).toBe(LAST)
    const added: string[] = []
    for (let version = 0; version <= state.version; version++) {
      const { body } = await store.get(`${table.location}/_delta_log/${String(version).padStart(20, '0')}.json`)
      for (const line of body.toString().trim().split('\n')) {
        const { add } = JSON.parse(line) as { add?: { path: string } }
        if (add !== undefined) added.push(add.path)
      }
    }
    expect(added.length).toBe(LAST)
    expect(new Set(added).size).toBe(LAST)
  })

  it('in Paimon: each file once, nothing lost', async () => {
    const store = new MemoryStore()
    await race(() => new PaimonReplica({ store, metadata: discarded, clock: systemClock, logger: silentLogger, uuid: randomUUID }))
    const state = await readTable(store, table.location)
    expect(state.live.size).toBe(LAST)
    expect(state.snapshot).toMatchObject({ commitIdentifier: LAST, totalRecordCount: LAST * 10 })
    const ids = await snapshotIds(store, table.location)
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, n) => n + 1))
  })
})
