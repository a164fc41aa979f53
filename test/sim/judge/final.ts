import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import type { Bucket } from '../world/bucket.ts'
import type { TableView } from '../../../src/metadata/view.ts'
import type { ObjectStore } from '../../../src/storage/store.ts'
import { TableCache } from '../../../src/tables/iceberg/cache.ts'
import { indexFile, openGroup } from '../../../src/tables/parquet/fileIndex.ts'
import { batchesOf } from '../../../src/tables/readback/batches.ts'
import { decodeBatches } from '../clients/batch.ts'
import { fetchInto } from '../clients/consumer.ts'
import { Connection } from '../clients/connection.ts'
import type { Cluster } from '../clients/cluster.ts'
import type { Running } from '../pod/pod.ts'

/** Status of a manifest entry that is no more (Iceberg spec, "Manifests"). */
const DELETED = 2
/** Empty answers in a row after which a partition that should have more does not. */
const EMPTY_MAX = 5

/** Reads everything from one process, from the log start to the end, and compares it with the history. */
export async function readAll(cluster: Cluster, running: Running): Promise<void> {
  const { world, history, faults, network } = cluster
  const { name } = running.process
  const { state } = running.broker!.engine
  await running.broker!.engine.barrier()
  const topic = state.topicByName(cluster.topic)!
  const connection = new Connection(world, running, network, faults)
  for (const known of history.partitions) {
    const { partition } = known
    const view = state.partition(topic.topic, partition)!
    const { logStartOffset, endOffset } = view
    if (logStartOffset > known.trimAsked || logStartOffset < known.trimmed)
      history.wrong(
        'lost',
        `${name}: partition ${partition} begins at ${logStartOffset}, ${known.trimmed} to ${known.trimAsked} was asked for`,
      )
    if (endOffset < known.ackedEnd)
      history.wrong('lost', `${name}: partition ${partition} ends at ${endOffset}, ${known.ackedEnd} was acknowledged`)
    const positions = new Map([[partition, logStartOffset]])
    for (let empty = 0; positions.get(partition)! < endOffset && empty < EMPTY_MAX;) {
      const before = positions.get(partition)!
      await fetchInto(cluster, connection, positions, 'the last reader', { waitMs: 100, isCommitted: false })
      if (positions.get(partition) === before) empty++
      else empty = 0
    }
    if (positions.get(partition)! < endOffset)
      history.wrong('lost', `${name}: partition ${partition} cannot be read from ${positions.get(partition)} on, it ends at ${endOffset}`)
  }
  connection.close()
}

/** What a reader of committed records sees: every committed transaction, none of an aborted one, all or nothing of the others. */
export async function readCommitted(cluster: Cluster, running: Running): Promise<void> {
  const { world, history, faults, network } = cluster
  const { state } = running.broker!.engine
  const topic = state.topicByName(cluster.topic)!
  const connection = new Connection(world, running, network, faults)
  const delivered = new Set<string>()
  const starts: number[] = []
  const ends: number[] = []
  for (const { partition } of history.partitions) {
    const { logStartOffset, lastStableOffset } = state.partition(topic.topic, partition)!
    starts.push(logStartOffset)
    ends.push(lastStableOffset)
    const positions = new Map([[partition, logStartOffset]])
    for (let empty = 0; positions.get(partition)! < lastStableOffset && empty < EMPTY_MAX;) {
      const before = positions.get(partition)!
      await fetchInto(cluster, connection, positions, 'the last committed reader', { waitMs: 100, isCommitted: true, delivered })
      empty = positions.get(partition) === before ? empty + 1 : 0
    }
  }
  connection.close()
  const outcomes = new Map<string, { value: string; isThere: boolean }>()
  for (const { transaction, producer, first, partition, state: told, baseOffset } of history.batches) {
    const value = `${producer}/${first}`
    const isThere = delivered.has(value)
    if (told !== 'acked' || baseOffset < starts[partition] || baseOffset >= ends[partition]) continue
    if ((transaction === null || transaction.state === 'committed') && !isThere)
      history.wrong('lost', `${value} is committed and was not read as such`)
    if (transaction?.state !== 'unknown') continue
    const other = outcomes.get(transaction.id)
    if (other !== undefined && other.isThere !== isThere)
      history.wrong('aborted', `${transaction.id} is torn: ${value} and ${other.value}, and only one of them is committed`)
    outcomes.set(transaction.id, { value, isThere })
  }
}

/** Every acknowledged record is where it was acknowledged, in the order of its producer. */
export function judgeLog(cluster: Cluster, running: Running): void {
  const { history } = cluster
  const { state } = running.broker!.engine
  const topic = state.topicByName(cluster.topic)!
  for (const known of history.partitions) {
    const { logStartOffset, endOffset } = state.partition(topic.topic, known.partition)!
    for (let offset = logStartOffset; offset < endOffset; offset++) {
      if (!known.values.has(offset) && !history.mayBeHole(known.partition, offset))
        history.wrong('lost', `offset ${offset} of partition ${known.partition} holds nothing that was read`)
    }
  }
  for (const known of history.partitions) {
    for (const [offset, by] of known.holes) {
      if (!history.mayBeHole(known.partition, offset) && !known.markers.has(offset))
        history.wrong('skipped', `${known.values.get(offset)} at offset ${offset} of partition ${known.partition} was passed over (${by})`)
    }
  }
  const last = new Map<string, { first: number; offset: number }>()
  for (const batch of history.batches) {
    const { producer, partition, first, count } = batch
    const { offsets } = history.partitions[partition]
    const base = offsets.get(`${producer}/${first}`)
    for (let i = 0; i < count; i++) {
      const offset = offsets.get(`${producer}/${first + i}`)
      if (batch.state === 'acked' && offset === undefined)
        history.wrong('lost', `${producer}/${first + i} of partition ${partition} was acknowledged and is gone`)
      if (base !== undefined && offset !== base + i)
        history.wrong('reordered', `${producer}/${first + i} of partition ${partition} is at ${offset}, its batch begins at ${base}`)
    }
    if (base === undefined || !batch.ordered) continue
    const before = last.get(`${producer} ${partition}`)
    if (before !== undefined && before.offset > base)
      history.wrong(
        'reordered',
        `${producer}/${first} of partition ${partition} is at ${base}, ${producer}/${before.first} before it at ${before.offset}`,
      )
    last.set(`${producer} ${partition}`, { first, offset: base })
  }
}

/** Processes at the same entry have the same state (L5). */
export function judgeStates(cluster: Cluster, running: readonly Running[]): void {
  const hashes = new Map<number, { readonly name: string; readonly hash: string }>()
  for (const { process, broker } of running) {
    const { rooms } = broker!.engine.state
    const hash = hashRooms(rooms).toString('hex')
    const other = hashes.get(rooms.lastEntry)
    if (other !== undefined && other.hash !== hash)
      cluster.history.wrong('state', `${process.name} and ${other.name} differ in their state at entry ${rooms.lastEntry}`)
    hashes.set(rooms.lastEntry, { name: process.name, hash })
  }
}

/** The rows of the table's files are the records of the converted ranges, each once (P3). */
export async function judgeTable(cluster: Cluster, running: Running, bucket: Bucket): Promise<number> {
  const { history } = cluster
  const { state } = running.broker!.engine
  const topic = state.topicByName(cluster.topic)!
  const table = state.table(topic.topic)
  if (table === null || table.metadataKey === '') return 0
  const rows = history.partitions.map(() => new Map<number, string>())
  let count = 0
  for (const file of table.files()) {
    const { body } = bucket.get(file.key)
    const index = indexFile(body)
    for (const group of index.groups) {
      const list = batchesOf(await openGroup(group, index.footer, Buffer.from(body.subarray(group.start, group.end))))
      list.batches.forEach((bytes, i) => {
        const read = decodeBatches(Buffer.from(bytes))
        const partition = list.partitions[i]
        if (typeof read === 'string') return history.wrong('table', `${file.key}: ${read}`)
        for (const { offset, value } of read.records) {
          count++
          if (history.batchOf(value)?.transaction?.state === 'aborted') history.wrong('aborted', `${value} was aborted and is in the table`)
          if (rows[partition].has(offset)) history.wrong('table', `offset ${offset} of partition ${partition} is in the table twice`)
          rows[partition].set(offset, value)
          history.seen(partition, offset, value, `table file ${file.key}`)
        }
      })
    }
  }
  for (const known of history.partitions) {
    const converted = state.firstUnconverted(topic.topic, known.partition)
    const { logStartOffset } = state.partition(topic.topic, known.partition)!
    for (let offset = logStartOffset; offset < converted; offset++) {
      if (!rows[known.partition].has(offset) && !history.mayBeHole(known.partition, offset))
        history.wrong('table', `offset ${offset} of partition ${known.partition} is converted, and in no file`)
    }
    for (const offset of rows[known.partition].keys()) {
      if (offset >= converted) history.wrong('table', `offset ${offset} of partition ${known.partition} is in a file, and not converted`)
    }
  }
  await judgeMetadata(cluster, bucket, table)
  return count
}

/** The current Iceberg snapshot names the files that the state knows, no more and no fewer (P4). */
async function judgeMetadata(cluster: Cluster, bucket: Bucket, table: TableView): Promise<void> {
  const store = {
    get: async (key: string) => bucket.get(key),
    uri: (key: string) => bucket.uri(key),
    keyOf: (uri: string) => bucket.keyOf(uri),
  }
  // both at one instant: reading takes turns, and pods go on meanwhile
  const { metadataKey } = table
  const known = new Set(Array.from(table.files(), (file) => file.key))
  const cache = new TableCache(store as unknown as ObjectStore, { sizeBytes: 1 << 20 })
  const { metadata, lines } = await cache.table(table.location, metadataKey)
  const named = new Set<string>()
  for (const line of lines) {
    if (line.content !== 0) continue
    for (const { status, file } of await cache.entries(metadata, table.location, line)) {
      if (status !== DELETED) named.add(cache.keyIn(metadata, table.location, file.path))
    }
  }
  for (const key of named) if (!known.has(key)) cluster.history.wrong('table', `the Iceberg metadata names ${key}, the state does not`)
  for (const key of known) if (!named.has(key)) cluster.history.wrong('table', `the state names ${key}, the Iceberg metadata does not`)
}
