// J12: after a change of leader a file is committed again. The entry is refused the second time: its ranges are in the table.
import { afterEach, expect, it } from 'vitest'
import { currentSnapshot } from '../../src/tables/iceberg/table.ts'
import type { Command } from '../../src/metadata/commands.ts'
import { bench, type Bench } from '../unit/tables/harness.ts'
import { passing } from '../unit/tables/passing.ts'

let b: Bench
afterEach(() => b.end())

it('the last commit proposed once more changes nothing, whatever version it claims', async () => {
  const commits: Extract<Command, { kind: 'commitTable' }>[] = []
  b = await bench({
    metadata: (inner) =>
      passing(inner, (command, propose) => {
        if (command.kind === 'commitTable') commits.push(command)
        return propose()
      }),
  })
  const topic = await b.topic('t', 1)
  await b.produce(topic, 0, ['a'])
  await b.load(topic)
  const [commit] = commits
  for (const expectedVersion of [commit!.expectedVersion, b.table(topic).version]) {
    expect(await b.engine.propose({ ...commit!, expectedVersion })).toMatchObject({ kind: 'table', accepted: false })
  }
  const { metadata } = await b.load(topic)
  expect([metadata.snapshots.length, currentSnapshot(metadata)!.summary['total-records'], b.table(topic).fileCount]).toEqual([1, '1', 1])
})
