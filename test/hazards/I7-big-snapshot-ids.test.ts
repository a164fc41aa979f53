// I7: snapshot ids of other writers have 64 bits; as JavaScript numbers they lose their last digits, or printing throws.
import { expect, it } from 'vitest'
import { currentSnapshot, parseMetadata, printMetadata } from '../../src/tables/iceberg/table.ts'
import { snapshotsToDrop } from '../../src/tables/iceberg/retain.ts'
import { file, Sketch } from '../unit/tables/iceberg/lib.ts'

const BIG = '9007199254740993'

it('a table whose snapshot id is 9007199254740993: append, read back, expire', async () => {
  const table = new Sketch()
  await table.publish({ operation: 'append', added: [file('a')] })
  const own = String(table.base!.metadata['current-snapshot-id'])
  const metadata = parseMetadata(
    table
      .base!.text.replaceAll(`"snapshot-id":${own}`, `"snapshot-id":${BIG}`)
      .replace(`"current-snapshot-id":${own}`, `"current-snapshot-id":${BIG}`),
  )
  expect(metadata['current-snapshot-id']).toBe(BigInt(BIG))
  const lines = [{ ...table.base!.lines[0]!, addedSnapshotId: BigInt(BIG) }]
  table.base = { ...table.base!, metadata, lines }
  const { loaded } = await table.publish({ operation: 'append', added: [file('b')] })
  expect(printMetadata(loaded.metadata)).toContain(`"parent-snapshot-id":${BIG}`)
  expect(loaded.metadata['snapshot-log'].map((entry) => String(entry['snapshot-id']))).toContain(BIG)
  const entries = await table.entries()
  expect(entries.map((entry) => String(entry.snapshotId)).toSorted()).toEqual(
    [BIG, String(loaded.metadata['current-snapshot-id'])].toSorted(),
  )
  const again = parseMetadata(loaded.text)
  const drop = snapshotsToDrop(again, { nowMs: table.nowMs + 1e9, graceMs: 0, leased: new Set() })
  expect(drop.map((snapshot) => String(snapshot['snapshot-id']))).toEqual([BIG])
  const expired = await table.publish({}, { drop, manifestsOf: new Map() })
  expect(printMetadata(expired.loaded.metadata)).not.toContain(`"snapshot-id":${BIG},"sequence-number"`)
  expect(currentSnapshot(expired.loaded.metadata)).not.toBeNull()
})
