import { FrazilError } from '../base/errors.ts'
import type { EntryLog } from '../metadata/entryLog.ts'
import type { StateView, WalExtent, WalObject } from '../metadata/view.ts'
import { BATCH_HEADER_BYTES, batchCrcValid, readBatchHeader } from '../../protocol/records/header.ts'
import type { ObjectStore } from '../storage/store.ts'
import { decodeHeader, decodeIndex, decodeTail, HEADER_BYTES, parseWalKey, TAIL_BYTES } from '../wal/format.ts'
import type { Report } from './report.ts'

interface Placed {
  readonly name: string
  readonly extent: WalExtent
}

/** Every object of the write-ahead log: there, as long as it should be, its index whole, and each batch with its offsets and CRC. */
export async function checkWal(state: StateView, store: ObjectStore, log: EntryLog, report: Report): Promise<void> {
  const placed = new Map<number, Placed[]>()
  for (const topic of state.topics()) {
    for (let partition = 0; partition < topic.partitions; partition++) {
      for (const extent of state.extents(topic.topic, partition, 0)) {
        if (extent.kind !== 'wal') continue
        const list = placed.get(extent.object) ?? []
        placed.set(extent.object, list)
        list.push({ name: `${topic.name}-${partition}`, extent })
      }
    }
  }
  const known = new Set<string>()
  for (const object of state.walObjects()) {
    const name = object.key === '' ? `what rides inside metadata entry ${object.entry}` : object.key
    if (object.key !== '') known.add(object.key)
    report.count('write-ahead objects')
    try {
      const body = await bodyOf(object, store, log)
      report.count('bytes read', body.length)
      for (const one of placed.get(object.id) ?? []) checkExtent(name, body, one, report)
    } catch (error) {
      if (!(error instanceof FrazilError) || !['STORE_NOT_FOUND', 'CORRUPT', 'LOG_CORRUPT', 'REFUSED'].includes(error.code)) throw error
      report.lost(`${name}: ${error.message}; records of ${namesOf(placed.get(object.id) ?? [])} are in it`)
    }
    placed.delete(object.id)
  }
  for (const [object, list] of placed) report.lost(`records of ${namesOf(list)} lie in object ${object}, which the state does not know`)
  await checkLeft(state, store, known, report)
}

async function bodyOf(object: WalObject, store: ObjectStore, log: EntryLog): Promise<Buffer> {
  if (object.key === '') return log.readAttachment(object.entry, object.entryOffset, object.entryOffset + object.sizeBytes)
  const { body } = await store.get(object.key, { reason: 'maintain' })
  if (body.length !== object.sizeBytes) throw new FrazilError('CORRUPT', `it has ${body.length} bytes, it should have ${object.sizeBytes}`)
  if (body.length < HEADER_BYTES + TAIL_BYTES) throw new FrazilError('CORRUPT', 'it is too short for what it is')
  decodeHeader(body)
  const { indexStart, indexBytes, crc } = decodeTail(body.subarray(body.length - TAIL_BYTES), body.length)
  decodeIndex(body.subarray(indexStart, indexStart + indexBytes), crc)
  return body
}

function checkExtent(object: string, body: Buffer, { name, extent }: Placed, report: Report): void {
  const end = extent.byteOffset + extent.sizeBytes
  if (end > body.length)
    return report.lost(`${object}: offsets ${extent.firstOffset} to ${extent.lastOffset} of ${name} lie behind its end`)
  let next = extent.firstOffset
  for (let at = extent.byteOffset; at < end;) {
    const header = end - at < BATCH_HEADER_BYTES ? null : readBatchHeader(body, at)
    if (header === null || header.sizeBytes < BATCH_HEADER_BYTES || at + header.sizeBytes > end) {
      return report.lost(`${object}: the batch at byte ${at}, offset ${next} of ${name}, is cut`)
    }
    if (!batchCrcValid(body.subarray(at, at + header.sizeBytes)))
      report.lost(`${object}: the batch at byte ${at}, offset ${next} of ${name}, fails its checksum`)
    report.count('batches')
    next += header.lastOffsetDelta + 1
    at += header.sizeBytes
  }
  if (next !== extent.lastOffset + 1)
    report.lost(`${object}: ${name} ends at offset ${next - 1} in it, the state says ${extent.lastOffset}`)
}

function namesOf(list: readonly Placed[]): string {
  const names = [...new Set(list.map(({ name }) => name))]
  return names.length === 0 ? 'no partition' : names.slice(0, 5).join(', ') + (names.length > 5 ? ` and ${names.length - 5} more` : '')
}

/** Objects that nobody refers to: left by processes that ended before they committed, or waiting to be deleted. A pod clears them. */
async function checkLeft(state: StateView, store: ObjectStore, known: ReadonlySet<string>, report: Report): Promise<void> {
  const waiting = new Set([...state.deletions()].map(({ key }) => key))
  for await (const { key } of store.list('wal/', { reason: 'maintain' })) {
    if (known.has(key)) continue
    if (waiting.has(key)) report.count('objects waiting to be deleted')
    else if (parseWalKey(key) === null) report.left(`${key} is no object of Frazil`)
    else report.count('objects that no entry names (a pod deletes them)')
  }
}
