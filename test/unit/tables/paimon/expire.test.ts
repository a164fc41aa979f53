import { describe, expect, it } from 'vitest'
import { expireSnapshots } from '../../../../src/tables/paimon/expire.ts'
import { paimonLayout } from '../../../../src/tables/paimon/layout.ts'
import { readSnapshot, readTable, snapshotIds } from '../../../../src/tables/paimon/log.ts'
import { FOLD_AT } from '../../../../src/tables/paimon/stage.ts'
import { ManualClock } from '../../wal/harness.ts'
import { bench } from '../harness.ts'

describe('Paimon snapshots', () => {
  it('go when their files go, with what only they name; manifests are folded', async () => {
    const clock = new ManualClock()
    const b = await bench({ clock })
    const topic = await b.topic('orders', 1, { 'table.formats': 'paimon', 'table.file.grace.ms': '60000' })
    for (let n = 0; n < FOLD_AT + 10; n++) {
      await b.produce(topic, 0, [`value ${n}`])
      await b.load(topic)
      await b.tables.replicas.settle()
      await clock.advance(5000)
    }
    await b.tables.replicas.settle()
    const { location } = b.table(topic)
    const state = await readTable(b.store, location)
    expect(state.snapshot!.totalRecordCount).toBe(FOLD_AT + 10)
    expect(state.manifests.length).toBeLessThanOrEqual(FOLD_AT)
    const keys = await expireSnapshots(b.store, location, clock.wallMs(), 60_000)
    const earliest = Number((await b.store.get(paimonLayout.earliest(location))).body.toString())
    expect(earliest).toBeGreaterThan(10)
    const ids = await snapshotIds(b.store, location)
    expect(await b.store.delete(keys)).toEqual([])
    expect(await snapshotIds(b.store, location)).toEqual(ids.filter((id) => id >= earliest))
    // every snapshot that stays still reads
    for (const id of await snapshotIds(b.store, location)) await readSnapshot(b.store, location, id)
    const after = await readTable(b.store, location)
    expect([...after.live.values()].reduce((sum, file) => sum + file._ROW_COUNT, 0)).toBe(FOLD_AT + 10)
    await b.end()
  })
})
