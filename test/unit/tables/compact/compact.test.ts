import { afterEach, describe, expect, it } from 'vitest'
import type { TableFile } from '../../../../src/metadata/view.ts'
import { chooseMerge, FAN_IN } from '../../../../src/tables/compact/policy.ts'
import { encode, merge } from '../../../../src/tables/convert/files.ts'
import { currentSnapshot } from '../../../../src/tables/iceberg/table.ts'
import { bench, until, type Bench } from '../harness.ts'

let open: Bench | null = null
afterEach(async () => {
  await open?.end()
  open = null
})

async function loads(b: Bench, name: string, rounds: number, partitions = 1): Promise<ReturnType<Bench['table']>> {
  const topic = await b.topic(name, partitions)
  for (let n = 0; n < rounds; n++) {
    await b.produce(topic, n % partitions, [`value ${n}`])
    await b.load(topic)
  }
  return b.table(topic)
}

describe('merging', () => {
  it('turns eight files of a level into one of the next; rows, ranges and produced bytes stay', async () => {
    const b = (open = await bench())
    const table = await loads(b, 't', FAN_IN - 1)
    const before = [...table.files()]
    expect(before.map((file) => file.level)).toEqual(Array.from({ length: FAN_IN - 1 }, () => 0))
    const topic = b.engine.state.topicByName('t')!
    await b.produce(topic, 0, ['last'])
    await b.load(topic)
    await until(() => table.fileCount === 1, 'the merge')
    const [file] = [...table.files()]
    expect(file).toMatchObject({ level: 1, rows: FAN_IN })
    expect(file!.ranges).toEqual([expect.objectContaining({ partition: 0, firstOffset: 0, lastOffset: FAN_IN - 1, rows: FAN_IN })])
    expect(file!.ranges[0]!.originalBytes).toBeGreaterThanOrEqual(before.reduce((sum, one) => sum + one.ranges[0]!.originalBytes, 0))
    const loaded = await b.load(topic)
    expect(currentSnapshot(loaded.metadata)!.summary).toMatchObject({
      operation: 'replace',
      'total-records': String(FAN_IN),
      'total-data-files': '1',
    })
  })

  it('a trickle of small loads leaves a bounded number of files, each row rewritten once a level', async () => {
    const b = (open = await bench())
    // 8^2 = 64 loads and three more: at most seven files on each of three levels.
    const table = await loads(b, 't', 30)
    await until(() => chooseMerge(b.engine.state, table.topic, table.files(), 1 << 29) === null, 'the end of merging')
    const levels = [...table.files()].map((file) => file.level)
    expect(table.fileCount).toBeLessThanOrEqual(2 * (FAN_IN - 1))
    expect(Math.max(...levels)).toBe(1)
    expect([...table.files()].reduce((sum, file) => sum + file.rows, 0)).toBe(30)
  })

  it('appends go on while a merge runs, and both are in the table', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const b = (open = await bench({
      tables: {
        workers: 2,
        encoders: {
          encode: (task) => encode(task, open!.store),
          merge: async (task) => {
            await held
            return merge(task, open!.store)
          },
          close: async () => {},
        },
      },
    }))
    const table = await loads(b, 't', FAN_IN + 2)
    expect(table.fileCount).toBe(FAN_IN + 2)
    release()
    await until(() => table.fileCount === 3, 'the merge')
    expect([...table.files()].map((file) => file.rows).toSorted((x, y) => x - y)).toEqual([1, 1, FAN_IN])
  })

  it('a merge whose files went meanwhile is thrown away', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    const b = (open = await bench({
      tables: {
        workers: 2,
        encoders: {
          encode: (task) => encode(task, open!.store),
          merge: async (task) => {
            await held
            return merge(task, open!.store)
          },
          close: async () => {},
        },
      },
    }))
    const table = await loads(b, 't', FAN_IN)
    const topic = b.engine.state.topicByName('t')!
    await b.engine.propose({ kind: 'trimPartitions', trims: [{ topic: topic.topic, partition: 0, logStartOffset: FAN_IN }] })
    const first = [...table.files()][0]!
    await b.tables.publisher.publish(topic.topic, (current) => ({
      operation: 'delete',
      added: [],
      removed: [first],
      converted: [],
      dataTimeMs: current.dataTimeMs,
    }))
    release()
    await until(
      () => [...b.engine.state.deletions()].filter((one) => one.key.endsWith('.parquet')).length === 2,
      'the deletion of the merged file',
    )
    expect(table.fileCount).toBe(FAN_IN - 1)
  })
})

describe('the choice of a merge', () => {
  const state = {
    partition: () => ({ logStartOffset: 0 }),
    extentAt: (_topic: number, _partition: number, offset: number) => ({
      kind: 'table',
      files: [all.find((file) => file.ranges[0]!.lastOffset >= offset)!.id],
    }),
  } as never
  let all: TableFile[] = []
  const files = (sizes: readonly number[], level = 0): TableFile[] =>
    (all = sizes.map((sizeBytes, at) => ({
      id: at + 1,
      topic: 1,
      key: `f${at}`,
      sizeBytes,
      rows: 10,
      level,
      ranges: [{ partition: 0, firstOffset: at * 10, lastOffset: at * 10 + 9, rows: 10, maxTimestampMs: 0, originalBytes: 1 }],
    })))
  const chosen = (sizes: readonly number[], targetBytes: number): number[] | null =>
    chooseMerge(state, 1, files(sizes), targetBytes)?.files.map((file) => file.id) ?? null

  it('leaves files of target size alone', () => {
    expect(chosen([1000, 1000, 1000, 800, 900, 1000, 1000, 1000, 1000], 1000)).toBeNull()
  })

  it('merges fewer when they fill the target, and never far beyond it', () => {
    expect(chosen([400, 400, 400, 400], 1000)).toEqual([1, 2, 3])
    expect(chosen([400], 1000)).toBeNull()
    expect(chosen([1, 1, 1, 1, 1, 1, 1], 1000)).toBeNull()
  })

  it('takes many at once after a backlog', () => {
    expect(
      chosen(
        Array.from({ length: 30 }, () => 10),
        1000,
      ),
    ).toHaveLength(30)
  })

  it('does not reach over a file that is full already', () => {
    expect(chosen([1, 1, 1, 1, 5000, 1, 1, 1, 1], 1000)).toBeNull()
    expect(chosen([1, 5000, 1, 1, 1, 1, 1, 1, 1, 1], 1000)).toEqual([3, 4, 5, 6, 7, 8, 9, 10])
  })
})
