import { describe, expect, it } from 'vitest'
import { commit, createTopic, open, part } from './helpers.ts'
import { MemoryLog } from './memoryLog.ts'

describe('engine', () => {
  it('registers, creates topics, gives offsets, moves them to the table, and comes back after a restart', async () => {
    const log = new MemoryLog()
    const engine = await open(log)
    expect([engine.incarnation, engine.nodeId]).toEqual([1, 0])
    const topic = await createTopic(engine, 'orders', 2)
    const first = await commit(engine, part(topic, 0, 0, { count: 10 }, { count: 5 }), part(topic, 1, 200, { count: 3 }))
    expect(first.parts.map((p) => p.baseOffsets)).toEqual([[0, 10], [0]])
    await commit(engine, part(topic, 0, 0, { count: 5, maxTimestampMs: 2000 }))
    expect([...engine.state.extents(topic, 0, 0)].map((e) => [e.kind, e.firstOffset, e.lastOffset])).toEqual([
      ['wal', 0, 14],
      ['wal', 15, 19],
    ])
    const table = await engine.propose({
      kind: 'commitTable',
      topic,
      expectedVersion: 0,
      metadataKey: 'm1',
      publication: 1,
      snapshotId: 7,
      converted: [{ partition: 0, firstOffset: 0, lastOffset: 14 }],
      added: [
        {
          key: 'f1',
          sizeBytes: 50,
          rows: 15,
          level: 0,
          ranges: [{ partition: 0, firstOffset: 0, lastOffset: 14, rows: 15, maxTimestampMs: 1000, originalBytes: 200 }],
        },
      ],
      removed: [],
      obsolete: [],
      dataTimeMs: 5,
    })
    expect(table).toEqual({ kind: 'table', accepted: true, reason: '' })
    await engine.close()

    const again = await open(new MemoryLog(log.disk))
    expect([again.incarnation, again.nodeId]).toEqual([2, 0])
    expect(again.state.partition(topic, 0)).toMatchObject({ logStartOffset: 0, endOffset: 20, sizeBytes: 300 })
    expect([...again.state.extents(topic, 0, 0)].map((e) => [e.kind, e.firstOffset, e.lastOffset])).toEqual([
      ['table', 0, 14],
      ['wal', 15, 19],
    ])
    expect(again.state.firstUnconverted(topic, 0)).toBe(15)
    expect(again.state.table(topic)).toMatchObject({ version: 1, metadataKey: 'm1', snapshotId: 7, fileCount: 1 })
    expect(again.state.clusterId).toBe(engine.state.clusterId)
    await again.close()
  })
})
