// I6: Java writes `current-snapshot-id: -1` for "no snapshot"; copied into the parent id of the first snapshot, every later
// commit fails with a conflict. -1, null and nothing all mean none.
import { describe, expect, it } from 'vitest'
import { currentSnapshot, parseMetadata, printMetadata } from '../../src/tables/iceberg/table.ts'
import { file, Sketch } from '../unit/tables/iceberg/lib.ts'

describe.each([
  ['-1', -1],
  ['null', null],
  ['absent', undefined],
])('metadata whose current snapshot is %s', (_name, none) => {
  it('gets a first snapshot without a parent', async () => {
    const table = new Sketch()
    await table.publish({})
    const { 'current-snapshot-id': _gone, refs: _refs, ...rest } = table.base!.metadata
    const text = JSON.stringify({
      ...rest,
      snapshots: [],
      'snapshot-log': [],
      'last-sequence-number': 0,
      ...(none === undefined ? {} : { 'current-snapshot-id': none }),
    })
    const metadata = parseMetadata(text)
    expect(currentSnapshot(metadata)).toBeNull()
    table.base = { ...table.base!, metadata, lines: [] }
    const { loaded } = await table.publish({ operation: 'append', added: [file('a')] })
    const snapshot = currentSnapshot(loaded.metadata)!
    expect(snapshot).not.toHaveProperty('parent-snapshot-id')
    expect(printMetadata(loaded.metadata)).not.toMatch(/"parent-snapshot-id":(-1|null)/)
    expect(loaded.metadata.refs['main']!['snapshot-id']).toBe(snapshot['snapshot-id'])
  })
})
