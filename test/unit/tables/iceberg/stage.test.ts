import { describe, expect, it } from 'vitest'
import { currentSnapshot } from '../../../../src/tables/iceberg/table.ts'
import { decodeManifestList } from '../../../../src/tables/iceberg/manifestList.ts'
import { METADATA_LOG_MAX } from '../../../../src/tables/iceberg/stage.ts'
import { CREATED_MS, file, keyOf, LOCATION, Sketch, uri } from './lib.ts'

describe('staging a publication', () => {
  it('gives a table without rows an empty snapshot, dated by the topic', async () => {
    const table = new Sketch()
    const { loaded } = await table.publish({})
    const snapshot = currentSnapshot(loaded.metadata)!
    expect(snapshot['timestamp-ms']).toBe(CREATED_MS)
    expect(snapshot).not.toHaveProperty('parent-snapshot-id')
    expect(snapshot.summary).toMatchObject({
      operation: 'append',
      'total-records': '0',
      'total-data-files': '0',
      'frazil.publication': '1',
    })
    expect(loaded.metadata.refs['main']).toEqual({ 'snapshot-id': snapshot['snapshot-id'], type: 'branch' })
    expect(await table.live()).toEqual([])
    expect(loaded.metadata.properties).toMatchObject({ 'gc.enabled': 'false', 'write.delete.isolation-level': 'snapshot' })
    expect(loaded.metadata.location).toBe(uri(LOCATION))
  })

  it('appends: parent, sequence number, totals, offsets, inherited ids', async () => {
    const table = new Sketch()
    await table.publish({})
    const first = currentSnapshot(table.base!.metadata)!
    const { loaded } = await table.publish({
      operation: 'append',
      added: [file('a'), file('b', 5, 1)],
      offsets: [
        { partition: 0, firstOffset: 0, lastOffset: 9 },
        { partition: 1, firstOffset: 0, lastOffset: 4 },
      ],
      dataTimeMs: CREATED_MS + 500,
    })
    const snapshot = currentSnapshot(loaded.metadata)!
    expect(snapshot['parent-snapshot-id']).toBe(first['snapshot-id'])
    expect(snapshot['sequence-number']).toBe(2)
    expect(snapshot['timestamp-ms']).toBe(CREATED_MS + 500)
    expect(loaded.metadata['last-updated-ms']).toBe(CREATED_MS + 500)
    expect(snapshot.summary).toMatchObject({
      'added-data-files': '2',
      'added-records': '15',
      'total-records': '15',
      'total-files-size': '1500',
      'frazil.offsets.0': '0-9',
      'frazil.offsets.1': '0-4',
    })
    const entries = await table.entries()
    expect(entries.map((entry) => [entry.snapshotId, entry.sequenceNumber])).toEqual([
      [snapshot['snapshot-id'], 2],
      [snapshot['snapshot-id'], 2],
    ])
    expect(entries[1]!.ranges).toEqual([[1, 0, 4, 5, CREATED_MS + 5, 450]])
  })

  it('replaces: removed rows never return, survivors keep their sequence numbers', async () => {
    const table = new Sketch()
    await table.publish({ operation: 'append', added: [file('a'), file('b')] })
    await table.publish({ operation: 'append', added: [file('c', 10, 0, 10)] })
    const { loaded, obsolete } = await table.publish({
      operation: 'replace',
      added: [{ ...file('abc', 20), level: 1 }],
      removedKeys: [file('a').key, file('c').key],
    })
    expect(new Set(await table.live())).toEqual(new Set([file('b'), file('abc')].map((one) => uri(one.key))))
    const kept = (await table.entries()).find((entry) => entry.file.path === uri(file('b').key))!
    expect(kept.sequenceNumber).toBe(1)
    const summary = currentSnapshot(loaded.metadata)!.summary
    expect(summary).toMatchObject({
      operation: 'replace',
      'deleted-data-files': '2',
      'added-data-files': '1',
      'total-data-files': '2',
      'total-records': '30',
    })
    expect(obsolete).toContainEqual({ key: file('a').key, graceMs: 60_000 })
    expect(loaded.removedSequence).toBe(3)
    await table.publish({ operation: 'append', added: [file('d', 1, 0, 20)] })
    expect(await table.live()).toHaveLength(3)
  })

  it('keeps a replaced file while a tag shows it, and lets it go with the tag', async () => {
    const table = new Sketch()
    await table.publish({ operation: 'append', added: [file('a')] })
    const tagged = currentSnapshot(table.base!.metadata)!['snapshot-id']
    await table.publish({ edit: (metadata) => ({ ...metadata, refs: { ...metadata.refs, v1: { 'snapshot-id': tagged, type: 'tag' } } }) })
    const replaced = await table.publish({ operation: 'replace', added: [file('b')], removedKeys: [file('a').key] })
    expect(replaced.obsolete.map((item) => item.key)).not.toContain(file('a').key)
    expect(replaced.loaded.pinned).toEqual([{ key: file('a').key, addedSequence: 1, removedSequence: 2 }])
    const { obsolete, loaded } = await table.publish({
      edit: (metadata) => ({ ...metadata, refs: Object.fromEntries(Object.entries(metadata.refs).filter(([name]) => name !== 'v1')) }),
    })
    expect(obsolete.map((item) => item.key)).toContain(file('a').key)
    expect(loaded.pinned).toEqual([])
  })

  it('is dated by the data, never backwards, and never in the future', async () => {
    const table = new Sketch()
    table.nowMs = CREATED_MS + 2000
    await table.publish({ operation: 'append', added: [file('a')], dataTimeMs: CREATED_MS + 900 })
    const dates = async (dataTimeMs: number): Promise<number> => {
      const { loaded } = await table.publish({ operation: 'append', added: [file(`f${table.publication}`)], dataTimeMs })
      return currentSnapshot(loaded.metadata)!['timestamp-ms'] - CREATED_MS
    }
    expect(await dates(CREATED_MS + 1000)).toBe(1000)
    expect(await dates(CREATED_MS + 1000)).toBe(1001)
    expect(await dates(CREATED_MS + 400)).toBe(1002)
    table.nowMs = CREATED_MS + 1002
    expect(await dates(CREATED_MS + 1002)).toBe(1002)
  })

  it('refuses a file that is added twice, and the removal of one that is not there', async () => {
    const table = new Sketch()
    await table.publish({ operation: 'append', added: [file('a')] })
    await expect(table.publish({ operation: 'append', added: [file('b'), file('b')] })).rejects.toMatchObject({ code: 'REFUSED' })
    await expect(table.publish({ operation: 'replace', removedKeys: [file('x').key] })).rejects.toMatchObject({ code: 'REFUSED' })
  })

  it('points to an object when more than 32 partitions changed', async () => {
    const table = new Sketch()
    const offsets = Array.from({ length: 33 }, (_, partition) => ({ partition, firstOffset: 0, lastOffset: partition }))
    const { loaded, objects } = await table.publish({ operation: 'append', added: [file('a')], offsets })
    const { summary } = currentSnapshot(loaded.metadata)!
    expect(Object.keys(summary).some((key) => key.startsWith('frazil.offsets.'))).toBe(false)
    const body = objects.find((object) => object.key === keyOf(summary['frazil.offsets-object']!))!.body
    expect(JSON.parse(body.toString())).toEqual(offsets)
  })

  it('keeps the metadata log short and names what fell out of it as obsolete', async () => {
    const table = new Sketch()
    const keys: string[] = []
    const obsolete: string[] = []
    for (let n = 0; n < METADATA_LOG_MAX + 5; n++) {
      const staged = await table.publish({ operation: 'append', added: [file(`f${n}`)] })
      keys.push(staged.loaded.metadataKey)
      obsolete.push(...staged.obsolete.map((item) => item.key))
    }
    expect(table.base!.metadata['metadata-log']).toHaveLength(METADATA_LOG_MAX)
    expect(obsolete.filter((key) => key.endsWith('.metadata.json'))).toEqual(keys.slice(0, 4))
  })

  it('drops snapshots with the manifests that nobody else names', async () => {
    const table = new Sketch()
    await table.publish({ operation: 'append', added: [file('a')] })
    await table.publish({ operation: 'replace', added: [file('b')], removedKeys: [file('a').key] })
    await table.publish({ operation: 'replace', added: [file('c')], removedKeys: [file('b').key] })
    const { snapshots } = table.base!.metadata
    const manifestsOf = new Map<number | bigint, string[]>()
    for (const snapshot of snapshots) {
      const lines = await decodeManifestList(table.objects.get(keyOf(snapshot['manifest-list'])!)!)
      manifestsOf.set(
        snapshot['snapshot-id'],
        lines.map((line) => line.path),
      )
    }
    const { obsolete, loaded } = await table.publish(
      { operation: 'append', added: [file('d')] },
      { drop: snapshots.slice(0, 2), manifestsOf },
    )
    const gone = obsolete.map((item) => item.key)
    for (const snapshot of snapshots.slice(0, 2)) {
      expect(gone).toContain(keyOf(snapshot['manifest-list']))
      for (const path of manifestsOf.get(snapshot['snapshot-id'])!) expect(gone).toContain(keyOf(path))
    }
    for (const path of manifestsOf.get(snapshots[2]!['snapshot-id'])!) expect(gone).not.toContain(keyOf(path))
    expect(loaded.metadata.snapshots.map((one) => one['snapshot-id'])).toHaveLength(2)
    expect(loaded.metadata['snapshot-log'].at(-1)!['snapshot-id']).toBe(loaded.metadata['current-snapshot-id'])
    expect(await table.live()).toHaveLength(2)
  })
})
