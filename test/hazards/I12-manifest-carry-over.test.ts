// I12: the same file added twice in one append; a delete-only manifest dropped so that its removed rows come back.
import { expect, it } from 'vitest'
import { file, Sketch, uri } from '../unit/tables/iceberg/lib.ts'

it('append, delete, append: what was deleted stays deleted, what was there stays', async () => {
  const table = new Sketch()
  await table.publish({ operation: 'append', added: [file('a'), file('b')] })
  await table.publish({ operation: 'delete', removedKeys: [file('a').key] })
  await table.publish({ operation: 'append', added: [file('c')] })
  expect((await table.live()).toSorted()).toEqual([uri(file('b').key), uri(file('c').key)])
  await table.publish({ operation: 'delete', removedKeys: [file('b').key, file('c').key] })
  await table.publish({ operation: 'append', added: [file('d')] })
  expect(await table.live()).toEqual([uri(file('d').key)])
  expect(table.base!.metadata.snapshots.at(-1)!.summary).toMatchObject({ 'total-data-files': '1', 'total-records': '10' })
})

it('a file is added once', async () => {
  const table = new Sketch()
  await expect(table.publish({ operation: 'append', added: [file('a'), file('a')] })).rejects.toMatchObject({ code: 'REFUSED' })
})
