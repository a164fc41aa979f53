import { describe, expect, it } from 'vitest'
import { Errors } from '../../../protocol/errors.ts'
import { topicCommand } from './helpers.ts'
import { Bench, file } from './rooms.ts'

/** A topic with three WAL extents of ten records in partition 0. */
function filled(partitions = 1): { bench: Bench; topic: number } {
  const bench = new Bench()
  const topic = bench.topic('a', partitions)
  for (let i = 0; i < 3; i++) bench.produce(topic, 0, { count: 10 })
  return { bench, topic }
}
const range = (firstOffset: number, lastOffset: number, partition = 0) => ({ partition, firstOffset, lastOffset })

describe('CommitTable: conversion (L7)', () => {
  it('moves ranges and pointer in one step and frees the WAL', () => {
    const { bench, topic } = filled()
    const commitMs = bench.state.extentAt(topic, 0, 10)!.commitTimeMs
    expect(bench.commitTable(topic, { converted: [range(0, 19)], added: [file('f1', [0, 0, 19])], dataTimeMs: 50 })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:0-19[1]', 'wal:20-29@3+0'])
    expect(bench.state.extentAt(topic, 0, 5)).toMatchObject({ maxTimestampMs: 19, originalBytes: 200, commitTimeMs: commitMs })
    expect(bench.state.firstUnconverted(topic, 0)).toBe(20)
    expect([bench.state.unconvertedBytes(topic), bench.state.unconvertedRecords(topic)]).toEqual([100, 10])
    expect(bench.state.partition(topic, 0)!.sizeBytes).toBe(300)
    expect(bench.state.table(topic)).toMatchObject({
      version: 1,
      metadataKey: 'm1',
      publication: 1,
      dataTimeMs: 50,
      committedMs: bench.nowMs,
      fileCount: 1,
    })
    expect([...bench.state.deletions()].map((d) => d.key)).toEqual(['wal/1', 'wal/2'])
    expect(bench.state.tableFile(1)).toMatchObject({ key: 'f1', rows: 20, level: 0, topic })
    expect(bench.commitTable(topic, { dataTimeMs: 40 })).toBe('accepted')
    expect(bench.state.table(topic)!.dataTimeMs).toBe(50)
  })

  it('is refused whole unless it says exactly what is', () => {
    const { bench, topic } = filled(2)
    const refuse = (more: object): string => bench.commitTable(topic, more)
    expect(refuse({ expectedVersion: 1 })).toContain('version 0')
    expect(refuse({ converted: [range(10, 19)], added: [file('f', [0, 10, 19])] })).toContain('from 0 on')
    expect(refuse({ converted: [range(0, 15)], added: [file('f', [0, 0, 15])] })).toContain('ends at 15')
    expect(refuse({ converted: [range(0, 30)], added: [] })).toContain('no offset 30')
    expect(refuse({ converted: [range(0, 9), range(11, 19)], added: [] })).toContain('one after the other')
    expect(refuse({ converted: [range(0, 0, 2)], added: [] })).toContain('no partition 2')
    expect(refuse({ converted: [range(0, 0, 1)], added: [] })).toContain('no offset 0')
    expect(refuse({ converted: [range(0, 9)], added: [file('f', [0, 0, 10])] })).toContain('from nowhere')
    expect(refuse({ added: [file('f', [0, 0, 9])] })).toContain('from nowhere')
    expect(refuse({ converted: [range(0, 9)], added: [file('f', [0, 5, 4])] })).toContain('ends before')
    expect(refuse({ removed: [7] })).toContain('file 7')
    expect(refuse({ converted: [range(0, 9)], added: [file('f', [0, 0, 9]), file('f', [0, 0, 9])] })).toContain('cannot be added')
    expect(refuse({ obsolete: [{ key: 'm1', graceMs: 0 }] })).toContain('in use')
    expect(bench.extents(topic)).toEqual(['wal:0-9@1+0', 'wal:10-19@2+0', 'wal:20-29@3+0'])
    expect(bench.state.table(topic)).toMatchObject({ version: 0, fileCount: 0 })
    expect(bench.commitTable(99, {})).toContain('gone')
  })

  it('the same conversion twice lands once (J5, J12)', () => {
    const { bench, topic } = filled()
    const command = { expectedVersion: 0, converted: [range(0, 9)], added: [file('f1', [0, 0, 9])] }
    expect(bench.commitTable(topic, command)).toBe('accepted')
    expect(bench.commitTable(topic, command)).toContain('version 1')
    expect(bench.commitTable(topic, { ...command, expectedVersion: 1, added: [file('f2', [0, 0, 9])] })).toContain('from 10 on')
    expect(bench.extents(topic)).toEqual(['table:0-9[1]', 'wal:10-19@2+0', 'wal:20-29@3+0'])
  })

  it('ranges without rows become no extent but count as converted', () => {
    const { bench, topic } = filled()
    expect(bench.commitTable(topic, { converted: [range(0, 9), range(10, 19)], added: [file('f', [0, 12, 15])] })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:12-15[1]', 'wal:20-29@3+0'])
    expect(bench.state.extentAt(topic, 0, 0)!.firstOffset).toBe(12)
    expect(bench.commitTable(topic, { converted: [range(20, 29)] })).toBe('accepted')
    expect([bench.state.firstUnconverted(topic, 0), bench.state.unconvertedBytes(topic)]).toEqual([30, 0])
    bench.produce(topic, 0, {})
    expect(bench.extents(topic)).toEqual(['table:12-15[1]', 'wal:30-30@4+0'])
  })

  it('goes on from a log start inside an extent, and over ranges that were trimmed meanwhile', () => {
    for (const first of [0, 10, 15]) {
      const { bench, topic } = filled()
      bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 15 }] })
      expect(bench.commitTable(topic, { converted: [range(first, 29)], added: [file('f', [0, first, 29])] })).toBe('accepted')
      expect(bench.extents(topic)).toEqual([`table:${first}-29[1]`])
    }
    const { bench, topic } = filled()
    bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 15 }] })
    expect(bench.commitTable(topic, { converted: [range(16, 29)], added: [file('f', [0, 16, 29])] })).toContain('from 10 on')
    // All of it is below the log start: rows stay for SQL, there is nothing to move.
    bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 30 }] })
    expect(bench.commitTable(topic, { converted: [range(0, 29)], added: [file('f', [0, 0, 29])] })).toBe('accepted')
    expect([bench.extents(topic), bench.state.table(topic)!.fileCount]).toEqual([[], 1])
  })

  it('scattered rows: an extent and the set of its files (T10)', () => {
    const { bench, topic } = filled()
    expect(
      bench.commitTable(topic, {
        converted: [range(0, 29)],
        added: [file('f1', [0, 0, 12]), file('f2', [0, 3, 19]), file('f3', [0, 20, 29])],
      }),
    ).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:0-19[1,2]', 'table:20-29[3]'])
    expect(bench.state.partition(topic, 0)!.sizeBytes).toBe(400)
  })
})

describe('CommitTable: merging and retention', () => {
  function converted(): { bench: Bench; topic: number } {
    const { bench, topic } = filled()
    for (let i = 0; i < 3; i++)
      bench.commitTable(topic, { converted: [range(i * 10, i * 10 + 9)], added: [file(`f${i + 1}`, [0, i * 10, i * 10 + 9])] })
    return { bench, topic }
  }

  it('replaces the extents of removed files by those of added ones', () => {
    const { bench, topic } = converted()
    const committed = [...bench.state.extents(topic, 0, 0)].map((extent) => extent.commitTimeMs)
    const obsolete = [
      { key: 'f1', graceMs: 500 },
      { key: 'f2', graceMs: 500 },
    ]
    expect(bench.commitTable(topic, { added: [file('m', [0, 0, 19])], removed: [1, 2], obsolete })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:0-19[4]', 'table:20-29[3]'])
    expect(bench.state.extentAt(topic, 0, 0)!.commitTimeMs).toBe(committed[1])
    expect([...bench.state.table(topic)!.files()].map((f) => f.id)).toEqual([3, 4])
    expect([...bench.state.deletions()].filter((d) => d.key.startsWith('f')).map((d) => d.dueMs)).toEqual([
      bench.nowMs + 500,
      bench.nowMs + 500,
    ])
    expect(bench.state.tableFile(1)).toBe(null)
  })

  it('never takes rows from consumers: what is removed and readable must be covered', () => {
    const { bench, topic } = converted()
    expect(bench.commitTable(topic, { removed: [1] })).toContain('still serves offset 0')
    expect(bench.commitTable(topic, { added: [file('m', [0, 0, 8])], removed: [1] })).toContain('still serves offset 9')
    expect(bench.commitTable(topic, { added: [file('m', [0, 0, 8], [0, 10, 19])], removed: [1, 2] })).toContain('still serves offset 9')
    expect(bench.commitTable(topic, { added: [file('m', [0, 0, 20])], removed: [1, 2] })).toContain('from nowhere')
    expect(bench.commitTable(topic, { removed: [1, 1] })).toContain('twice')
    expect(bench.commitTable(topic, { added: [file('m', [0, 0, 29])], removed: [1, 3] })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:0-29[2,4]'])
  })

  it('table retention drops files wholly below the log start, also one of a set', () => {
    const { bench, topic } = converted()
    bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 10 }] })
    expect(bench.commitTable(topic, { removed: [1], obsolete: [{ key: 'f1', graceMs: 0 }] })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:10-19[2]', 'table:20-29[3]'])
    bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 15 }] })
    expect(bench.commitTable(topic, { removed: [2] })).toContain('still serves offset 15')
    expect(bench.commitTable(topic, { added: [file('m1', [0, 10, 14]), file('m2', [0, 12, 19])], removed: [2] })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:12-19[5]', 'table:20-29[3]'])
    expect(bench.commitTable(topic, { removed: [4] })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:12-19[5]', 'table:20-29[3]'])
  })

  it('a removed file goes out of an extent of several, also where its own rows are all below the log start', () => {
    const { bench, topic } = filled()
    bench.commitTable(topic, { converted: [range(0, 29)], added: [file('f1', [0, 0, 12]), file('f2', [0, 3, 29])] })
    expect(bench.extents(topic)).toEqual(['table:0-29[1,2]'])
    bench.apply({ kind: 'trimPartitions', trims: [{ topic, partition: 0, logStartOffset: 15 }] })
    expect(bench.commitTable(topic, { removed: [1] })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:3-29[2]'])
  })

  it('merging and converting in one step', () => {
    const { bench, topic } = converted()
    bench.produce(topic, 0, { count: 10 })
    expect(bench.commitTable(topic, { converted: [range(30, 39)], added: [file('m', [0, 20, 39])], removed: [3] })).toBe('accepted')
    expect(bench.extents(topic)).toEqual(['table:0-9[1]', 'table:10-19[2]', 'table:20-39[4]'])
    expect(bench.state.firstUnconverted(topic, 0)).toBe(40)
  })

  it('a key that waits for its deletion never comes back', () => {
    const { bench, topic } = converted()
    bench.apply({
      kind: 'enqueueDeletions',
      items: [
        { key: 'orphan', graceMs: 0 },
        { key: 'm4', graceMs: 0 },
      ],
    })
    bench.produce(topic, 0, { count: 10 })
    expect(bench.commitTable(topic, { converted: [range(30, 39)], added: [file('orphan', [0, 30, 39])] })).toContain('cannot be added')
    expect(bench.commitTable(topic, { converted: [range(30, 39)], added: [file('x', [0, 30, 39])] })).toContain('about to be deleted')
    expect(bench.commitTable(topic, { obsolete: [{ key: 'f2', graceMs: 0 }], metadataKey: 'm' })).toContain('in use')
  })
})

describe('topics and their tables (T20)', () => {
  it('Kafka names: taken, colliding, malformed', () => {
    const bench = new Bench()
    bench.topic('a.b')
    const error = (name: string, partitions = 1): number => {
      const result = bench.apply(topicCommand(name, partitions))
      return result.kind === 'refused' ? result.error : 0
    }
    expect(error('a.b')).toBe(Errors.TOPIC_ALREADY_EXISTS)
    expect(error('a_b')).toBe(Errors.INVALID_TOPIC_EXCEPTION)
    for (const name of ['', '.', '..', 'ä', 'a b', 'x'.repeat(250)]) expect(error(name)).toBe(Errors.INVALID_TOPIC_EXCEPTION)
    expect(error('p', 0)).toBe(Errors.INVALID_PARTITIONS)
    expect(error('a-b')).toBe(0)
    bench.apply({ kind: 'deleteTopic', topic: 1, keepTableAs: '', graceMs: 0 })
    expect(error('a_b')).toBe(0)
  })

  it('table names are unique ignoring case; ids are never used twice', () => {
    const bench = new Bench()
    const make = (name: string, tableName: string) =>
      bench.apply(topicCommand(name, 1, { table: { namespace: 'ns', name: tableName, uuid: `u-${name}` } }))
    make('t1', 'Orders')
    make('t2', 'orders')
    make('t3', 'ORDERS')
    expect([1, 2, 3].map((topic) => bench.state.table(topic)!.name)).toEqual(['Orders', 'orders_2', 'ORDERS_3'])
    expect(bench.state.table(2)!.location).toBe(`tables/ns/orders_2-${bench.state.topicByNumber(2)!.topicId.slice(0, 8)}`)
    expect(bench.state.tableByName('NS', 'ORDERS_2')!.topic).toBe(2)
    const topicId = bench.state.topicByNumber(1)!.topicId
    expect(bench.apply(topicCommand('t4', 1, { topicId }))).toMatchObject({ kind: 'refused', error: Errors.INVALID_REQUEST })
  })

  it('deleting a topic keeps its table under another name, with its files; a topic made anew gets a new one', () => {
    const { bench, topic } = filled()
    bench.commitTable(topic, { converted: [range(0, 9)], added: [file('f1', [0, 0, 9])] })
    const { uuid, location } = bench.state.table(topic)!
    expect(bench.apply({ kind: 'deleteTopic', topic, keepTableAs: 'a_20260101', graceMs: 9 })).toEqual({ kind: 'ok' })
    expect([bench.state.topicByName('a'), bench.state.table(topic), bench.state.topicByNumber(topic)]).toEqual([null, null, null])
    expect(bench.state.tableByUuid(uuid)).toMatchObject({ topic: 0, name: 'a_20260101', location, fileCount: 1 })
    expect(bench.state.tableFile(1)!.topic).toBe(0)
    expect([...bench.state.deletions()].map((d) => d.key)).toEqual(['wal/1', 'wal/2', 'wal/3'])
    const anew = bench.topic('a')
    expect(anew).toBeGreaterThan(topic)
    expect(bench.state.partition(anew, 0)!.endOffset).toBe(0)
    expect(bench.state.table(anew)!.uuid).not.toBe(uuid)
    expect(bench.apply({ kind: 'dropTable', tableUuid: bench.state.table(anew)!.uuid })).toMatchObject({ kind: 'refused' })
    expect(bench.apply({ kind: 'dropTable', tableUuid: 'none' })).toMatchObject({ kind: 'refused' })
    expect(bench.apply({ kind: 'dropTable', tableUuid: uuid })).toEqual({ kind: 'ok' })
    expect([...bench.state.deletions()].at(-1)!.key).toBe(`${location}/`)
    expect([bench.state.tableByUuid(uuid), bench.state.tableFile(1)]).toEqual([null, null])
  })

  it('dropping takes everything; a commit of a deleted topic fails by itself, others go on (E12)', () => {
    const { bench, topic } = filled()
    const other = bench.topic('b')
    const { location } = bench.state.table(topic)!
    bench.apply({ kind: 'deleteTopic', topic, keepTableAs: '', graceMs: 77 })
    expect([...bench.state.deletions()].at(-1)).toMatchObject({ key: `${location}/`, dueMs: bench.nowMs + 77 })
    expect(bench.produce(topic, 0, {})).toEqual([[3], [-1]])
    expect(bench.produce(other, 0, {})).toEqual([[0], [0]])
    expect(bench.commitTable(topic, {})).toContain('gone')
    expect(bench.rooms.parts.count).toBe(1)
    expect(bench.rooms.parts.extents.count).toBe(1)
  })

  it('configs of topics, brokers and groups', () => {
    const bench = new Bench()
    const topic = bench.topic('a')
    const before = bench.state.topicByNumber(topic)!.configVersion
    bench.apply({ kind: 'alterConfigs', target: { topic }, set: { x: '1', y: '2' }, remove: [] })
    bench.apply({ kind: 'alterConfigs', target: { topic }, set: { z: '3' }, remove: ['x'] })
    expect([...bench.state.topicByNumber(topic)!.configs]).toEqual([
      ['y', '2'],
      ['z', '3'],
    ])
    expect(bench.state.topicByNumber(topic)!.configVersion).toBe(before + 2)
    bench.apply({ kind: 'alterConfigs', target: { broker: '' }, set: { a: '1' }, remove: [] })
    bench.apply({ kind: 'alterConfigs', target: { broker: '0' }, set: { a: '2' }, remove: [] })
    bench.apply({ kind: 'alterConfigs', target: { group: 'g' }, set: { a: '3' }, remove: [] })
    expect([bench.state.brokerConfigs().get('a'), bench.state.brokerConfigs('0').get('a'), bench.state.groupConfigs('g').get('a')]).toEqual(
      ['1', '2', '3'],
    )
    bench.apply({ kind: 'alterConfigs', target: { group: 'g' }, set: {}, remove: ['a'] })
    expect(bench.state.groupConfigs('g').size).toBe(0)
    expect(bench.apply({ kind: 'alterConfigs', target: { topic: 99 }, set: {}, remove: [] })).toMatchObject({ kind: 'refused', error: 3 })
  })
})
