import { IN_FILE } from '../state/extents.ts'
import { type ConsumerGroupRow, copyConsumerMember, copyHead } from '../state/consumerGroups.ts'
import { copyGroup, copyOffset } from '../state/groups.ts'
import { copyAbout } from '../state/pods.ts'
import { restoreTransactions } from './transactions.ts'
import { Rooms } from '../state/state.ts'
import { TableFileRow, TableRow } from '../state/tables.ts'
import { TopicRow } from '../state/topics.ts'
import { restoreSchemas } from './schemas.ts'
import type { ConfigsData, GroupData, StateData, TableData, TopicData } from './data.ts'

/** The state that a dump describes. Derived numbers (counters, indexes) are computed anew. */
export function restoreRooms(state: StateData, lastHash: Uint8Array): Rooms {
  const rooms = new Rooms()
  const { cluster } = state
  rooms.lastHash = Buffer.from(lastHash)
  rooms.clusterId = cluster.clusterId
  rooms.lastEntry = cluster.lastEntry
  rooms.lastTimeMs = cluster.lastTimeMs
  rooms.level = cluster.level
  rooms.timeline = cluster.timeline
  rooms.nextProducerId = cluster.nextProducerId
  rooms.topicRows.nextNumber = cluster.nextTopic
  rooms.objects.nextId = cluster.nextObject
  rooms.tableRows.nextFile = cluster.nextFile
  rooms.deletionRows.nextId = cluster.nextDeletion
  rooms.podRows.nextIncarnation = cluster.nextIncarnation
  rooms.podRows.nextNode = cluster.nextNode

  const { objects: o, deletions: d } = state
  for (let i = 0; i < o.ids.length; i++) {
    rooms.objects.add({
      id: o.ids[i],
      key: o.keys[i],
      entry: o.entries[i],
      entryOffset: o.entryOffsets[i],
      sizeBytes: o.sizesBytes[i],
      liveBytes: o.liveBytes[i],
      segment: o.segments[i] === 1,
      createdMs: o.createdMs[i],
    })
  }
  for (let i = 0; i < d.ids.length; i++) rooms.deletionRows.restore({ id: d.ids[i], key: d.keys[i], dueMs: d.duesMs[i] })
  const cursor = { extent: 0, file: 0 }
  for (const topic of state.topics) restoreTopic(rooms, state, topic, cursor)
  restoreProducers(rooms, state)
  restoreTransactions(rooms, state)
  for (const table of state.tables) restoreTable(rooms, table)
  restoreConfigs(rooms.configs.brokers, state.brokerConfigs)
  restoreConfigs(rooms.configs.groups, state.groupConfigs)
  rooms.shards.owners.set(state.shardOwners)
  rooms.shards.epochs.set(state.shardEpochs)
  for (const group of state.groups) {
    const row = rooms.groupRows.ensure(group.groupId, group.stateTimeMs)
    row.record = copyGroup(group)
    if (group.consumer) row.consumer = restoreConsumer(group.consumer)
    for (const item of group.offsets) rooms.groupRows.setOffset(row, copyOffset(item))
  }
  for (const { name, nodeId, incarnation } of state.pods) rooms.podRows.byName.set(name, { name, nodeId, incarnation })
  for (const row of state.incarnations) {
    const { incarnation, pod, nonce, level, live, renewals, lastSequence, lastWalSequence } = row
    rooms.podRows.incarnations.set(incarnation, { incarnation, pod, nonce, level, live, renewals, lastSequence, lastWalSequence })
    if (row.about) rooms.podRows.incarnations.get(incarnation)!.about = copyAbout(row.about)
  }
  for (const { name, owner, term } of state.leases ?? []) rooms.podRows.leases.set(name, { name, owner, term })
  for (const { name, untilMs } of state.holds ?? []) rooms.deletionRows.holds.set(name, untilMs)
  restoreSchemas(rooms.schemaRows, state.schemas)
  return rooms
}

function restoreConsumer({ head, members }: NonNullable<GroupData['consumer']>): ConsumerGroupRow {
  return { head: copyHead(head), members: new Map(members.map((member) => [member.memberId, copyConsumerMember(member)])) }
}

function configsMap({ keys, values }: ConfigsData): Map<string, string> {
  return new Map(keys.map((key, i) => [key, values[i]]))
}

function restoreConfigs(all: Map<string, Map<string, string>>, data: readonly ConfigsData[]): void {
  for (const configs of data) all.set(configs.name, configsMap(configs))
}

function restoreTopic(rooms: Rooms, state: StateData, data: TopicData, cursor: { extent: number; file: number }): void {
  const { parts, topicRows } = rooms
  const { extents } = parts
  const e = state.extents
  const { topic, topicId, name, createdMs, configVersion } = data
  const slots = Array.from({ length: data.endOffsets.length }, (_, partition) => parts.add(topic, partition))
  const row = new TopicRow({ topic, topicId, name, createdMs, slots, configs: configsMap(data.configs), configVersion })
  topicRows.add(row)
  let epochAt = 0
  slots.forEach((slot, partition) => {
    parts.logStartOffset.set(slot, data.logStartOffsets[partition])
    parts.endOffset.set(slot, data.endOffsets[partition])
    const epochs = Array.from({ length: data.epochCounts[partition] }, () => {
      const startOffset = data.epochStartOffsets[epochAt]
      return { epoch: data.epochs[epochAt++], startOffset }
    })
    parts.setEpochs(slot, epochs)
    for (let left = data.extentCounts[partition]; left > 0; left--) {
      const i = cursor.extent++
      const first = e.firstOffsets[i]
      const last = e.lastOffsets[i]
      const bytes = e.originalBytes[i]
      const index = parts.indexForWrite(slot)
      parts.bytes.add(slot, bytes)
      if (e.places[i] === IN_FILE) {
        const files = Array.from({ length: e.where[i] }, () => e.files[cursor.file++])
        index.push(extents.addTable(first, last, e.maxTimestampsMs[i], bytes, e.commitTimesMs[i], files))
        parts.converted.add(slot, 1)
      } else {
        index.push(extents.restore(first, last, e.maxTimestampsMs[i], bytes, e.commitTimesMs[i], e.where[i], e.places[i]))
        row.unconvertedBytes += bytes
        row.unconvertedRecords += last - first + 1
      }
    }
  })
}

function restoreProducers({ producerRows, topicRows }: Rooms, { producers: p }: StateData): void {
  let batch = 0
  for (let i = 0; i < p.producerIds.length; i++) {
    const slot = producerRows.add(topicRows.slot(p.topics[i], p.partitions[i]), p.producerIds[i], p.epochs[i])
    producerRows.lastAppendMs.set(slot, p.lastAppendsMs[i])
    for (let left = p.batchCounts[i]; left > 0; left--, batch++) {
      producerRows.push(slot, p.firstSequences[batch], p.counts[batch], p.firstOffsets[batch], p.appendTimesMs[batch], p.lastAppendsMs[i])
    }
  }
}

function restoreTable({ tableRows }: Rooms, data: TableData): void {
  const { uuid, topic, namespace, name, location, createdMs } = data
  const table = new TableRow({ uuid, topic, namespace, name, location, createdMs })
  table.metadataKey = data.metadataKey
  table.version = data.version
  table.publication = data.publication
  table.snapshotId = data.snapshotId
  table.dataTimeMs = data.dataTimeMs
  table.committedMs = data.committedMs
  table.typingVersion = data.typingVersion ?? 0
  table.typingKey = data.typingKey ?? ''
  tableRows.add(table)
  for (const { id, key, sizeBytes, rows, level, ...columns } of data.files) {
    const ranges = Array.from({ length: columns.partitions.length }, (_, i) => ({
      partition: columns.partitions[i],
      firstOffset: columns.firstOffsets[i],
      lastOffset: columns.lastOffsets[i],
      rows: columns.rangeRows[i],
      maxTimestampMs: columns.maxTimestampsMs[i],
      originalBytes: columns.originalBytes[i],
    }))
    tableRows.addFile(new TableFileRow(id, table, { key, sizeBytes, rows, level, ranges }))
  }
}
