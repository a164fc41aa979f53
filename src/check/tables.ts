import { FrazilError } from '../base/errors.ts'
import { readBatchHeader } from '../../protocol/records/header.ts'
import type { TableReader } from '../log/port.ts'
import type { StateView, TableFile, TableView } from '../metadata/view.ts'
import type { ObjectStore } from '../storage/store.ts'
import { parseJson } from '../tables/iceberg/json.ts'
import { decodeManifest } from '../tables/iceberg/manifest.ts'
import { decodeManifestList } from '../tables/iceberg/manifestList.ts'
import { EntryStatus, type TableMetadata } from '../tables/iceberg/types.ts'
import type { Report } from './report.ts'

const READ_BYTES = 8 << 20

/** Every file of every table: there, as long as it should be, each row with its checksum; and the metadata that shows it to engines. */
export async function checkTables(state: StateView, store: ObjectStore, reader: TableReader | null, report: Report): Promise<void> {
  for (const table of state.tables()) {
    report.count('tables')
    const name = `${table.namespace}.${table.name}`
    for (const file of table.files()) {
      report.count('table files')
      await guarded(report, `${name}: ${file.key}`, () => checkFile(store, file, table.topic === 0 ? null : reader, report))
    }
    if (table.metadataKey !== '') await guarded(report, `${name}: ${table.metadataKey}`, () => checkMetadata(table, store, report))
  }
}

/** What is missing or damaged is told, and the check goes on. */
async function guarded(report: Report, what: string, check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (!(error instanceof FrazilError) || !['STORE_NOT_FOUND', 'CORRUPT', 'LIMIT', 'REFUSED'].includes(error.code)) throw error
    report.lost(`${what}: ${error.message}`)
  }
}

async function checkFile(store: ObjectStore, file: TableFile, reader: TableReader | null, report: Report): Promise<void> {
  const head = await store.head(file.key, { reason: 'maintain' })
  if (head === null) throw new FrazilError('STORE_NOT_FOUND', 'the file is gone: restore it from a backup or a version of the bucket')
  if (head.sizeBytes !== file.sizeBytes)
    throw new FrazilError('CORRUPT', `the file has ${head.sizeBytes} bytes, it should have ${file.sizeBytes}`)
  if (reader === null) return
  report.count('bytes read', file.sizeBytes)
  for (const { partition, firstOffset, lastOffset, rows } of file.ranges) {
    let found = 0
    for (let next = firstOffset; next <= lastOffset;) {
      const { batches, nextOffset } = await reader.read({ files: [file], partition, fromOffset: next, lastOffset, maxBytes: READ_BYTES })
      for (const batch of batches) found += readBatchHeader(batch).count
      if (nextOffset <= next) throw new FrazilError('CORRUPT', `reading partition ${partition} does not get past offset ${next}`)
      next = nextOffset
    }
    report.count('rows', found)
    if (found !== rows) throw new FrazilError('CORRUPT', `partition ${partition} has ${found} rows, it should have ${rows}`)
  }
}

/** The current snapshot: its manifests, and in them the files of the state, no more and no fewer. */
async function checkMetadata(table: TableView, store: ObjectStore, report: Report): Promise<void> {
  const metadata = parseJson((await store.get(table.metadataKey, { reason: 'maintain' })).body.toString()) as TableMetadata
  // Metadata names full URIs: in a store that was moved they still name the old place, below which the same keys follow.
  const keyOf = (uri: string): string | null =>
    store.keyOf(uri) ?? (uri.startsWith(`${metadata.location}/`) ? table.location + uri.slice(metadata.location.length) : null)
  if (store.keyOf(metadata.location) === null) report.count('tables that were moved (a pod publishes them anew)')
  const read = async (uri: string): Promise<Buffer> => {
    const key = keyOf(uri)
    if (key === null) throw new FrazilError('CORRUPT', `it names ${uri}, which lies outside of the store`)
    report.count('table metadata objects')
    return (await store.get(key, { reason: 'maintain' })).body
  }
  const current = metadata.snapshots?.find((snapshot) => snapshot['snapshot-id'] === metadata['current-snapshot-id'])
  const shown = new Set<string>()
  if (current !== undefined) {
    for (const line of await decodeManifestList(await read(current['manifest-list']))) {
      const bytes = await read(line.path)
      if (bytes.length !== line.lengthBytes)
        throw new FrazilError('CORRUPT', `${line.path} has ${bytes.length} bytes, it should have ${line.lengthBytes}`)
      if (line.content !== 0) continue
      for (const { status, file } of await decodeManifest(bytes, line, metadata)) {
        const key = keyOf(file.path)
        if (status !== EntryStatus.deleted && key !== null) shown.add(key)
      }
    }
  }
  const held = new Set([...table.files()].map(({ key }) => key))
  for (const key of held) if (!shown.has(key)) report.lost(`${table.name}: engines do not see ${key}, whose records consumers read`)
  for (const key of shown) if (!held.has(key)) report.lost(`${table.name}: engines see ${key}, which the state does not know`)
}
