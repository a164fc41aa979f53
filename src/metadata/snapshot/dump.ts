import type { OffsetItem } from '../commands.ts'
import { IN_FILE } from '../state/extents.ts'
import { copyGroup, type GroupRow } from '../state/groups.ts'
import type { Rooms } from '../state/state.ts'
import type { TableFileRow } from '../state/tables.ts'
import type { TopicRow } from '../state/topics.ts'
import { byText } from './order.ts'
import { dumpSchemas } from './schemas.ts'
import { dumpTransactions } from './transactions.ts'
import type { ConfigsData, FileData, GroupData, StateData, TableData, TopicData } from './data.ts'

/** The state as plain data; numbers of flat tables that nobody else holds are copied. */
export function dumpRooms(rooms: Rooms): StateData {
  const { topicRows, objects, tableRows, deletionRows, podRows } = rooms
  const objectRows = [...objects.byId.values()].sort((a, b) => a.id - b.id)
  const deletions = [...deletionRows.byId.values()].sort((a, b) => a.id - b.id)
  return {
    cluster: {
      clusterId: rooms.clusterId,
      lastEntry: rooms.lastEntry,
      lastTimeMs: rooms.lastTimeMs,
      level: rooms.level,
      timeline: rooms.timeline,
      nextTopic: topicRows.nextNumber,
      nextObject: objects.nextId,
      nextFile: tableRows.nextFile,
      nextDeletion: deletionRows.nextId,
      nextProducerId: rooms.nextProducerId,
      nextIncarnation: podRows.nextIncarnation,
      nextNode: podRows.nextNode,
    },
    topics: dumpTopics(rooms),
    extents: dumpExtents(rooms),
    producers: dumpProducers(rooms),
    objects: {
      ids: objectRows.map((row) => row.id),
      keys: objectRows.map((row) => row.key),
      entries: objectRows.map((row) => row.entry),
      entryOffsets: objectRows.map((row) => row.entryOffset),
      sizesBytes: objectRows.map((row) => row.sizeBytes),
      liveBytes: objectRows.map((row) => row.liveBytes),
      segments: objectRows.map((row) => Number(row.segment)),
      createdMs: objectRows.map((row) => row.createdMs),
    },
    tables: dumpTables(rooms),
    deletions: { ids: deletions.map((d) => d.id), keys: deletions.map((d) => d.key), duesMs: deletions.map((d) => d.dueMs) },
    brokerConfigs: dumpConfigs(rooms.configs.brokers),
    groupConfigs: dumpConfigs(rooms.configs.groups),
    shardOwners: rooms.shards.owners,
    shardEpochs: rooms.shards.epochs,
    groups: dumpGroups(rooms),
    pods: [...podRows.byName.values()]
      .sort((a, b) => a.nodeId - b.nodeId)
      .map(({ name, nodeId, incarnation }) => ({ name, nodeId, incarnation })),
    incarnations: [...podRows.incarnations.values()].sort((a, b) => a.incarnation - b.incarnation),
    ...dumpTransactions(rooms),
    leases: podRows.leases.size === 0 ? undefined : [...podRows.leases.values()].sort(byText((lease) => lease.name)),
    holds:
      deletionRows.holds.size === 0
        ? undefined
        : [...deletionRows.holds].map(([name, untilMs]) => ({ name, untilMs })).sort(byText((hold) => hold.name)),
    ...dumpSchemas(rooms.schemaRows),
  }
}

function dumpConfigs(all: ReadonlyMap<string, ReadonlyMap<string, string>>): ConfigsData[] {
  return [...all].map(([name, configs]) => configsData(name, configs)).sort(byText((configs) => configs.name))
}

function configsData(name: string, configs: ReadonlyMap<string, string>): ConfigsData {
  const keys = [...configs.keys()].sort(byText((key) => key))
  return { name, keys, values: keys.map((key) => configs.get(key)!) }
}

/** In order of number, so that the flat tables can follow it. */
function sortedTopics({ topicRows }: Rooms): TopicRow[] {
  return [...topicRows.byNumber.values()].sort((a, b) => a.topic - b.topic)
}

function dumpTopics(rooms: Rooms): TopicData[] {
  const { parts } = rooms
  return sortedTopics(rooms).map((row) => ({
    topic: row.topic,
    topicId: row.topicId,
    name: row.name,
    createdMs: row.createdMs,
    configVersion: row.configVersion,
    configs: configsData('', row.configs),
    logStartOffsets: row.slots.map((slot) => parts.logStartOffset.get(slot)),
    endOffsets: row.slots.map((slot) => parts.endOffset.get(slot)),
    extentCounts: row.slots.map((slot) => parts.extentCount(slot)),
    epochCounts: row.slots.map((slot) => parts.epochs(slot).length),
    epochs: row.slots.flatMap((slot) => parts.epochs(slot).map(({ epoch }) => epoch)),
    epochStartOffsets: row.slots.flatMap((slot) => parts.epochs(slot).map(({ startOffset }) => startOffset)),
  }))
}

function dumpExtents(rooms: Rooms): StateData['extents'] {
  const { parts } = rooms
  const { extents } = parts
  const column = () => new Float64Array(extents.count)
  const out = {
    firstOffsets: column(),
    lastOffsets: column(),
    maxTimestampsMs: column(),
    originalBytes: column(),
    commitTimesMs: column(),
    where: column(),
    places: column(),
  }
  const files: number[] = []
  let row = 0
  for (const { slots } of sortedTopics(rooms)) {
    for (const slot of slots) {
      for (let i = 0; i < parts.extentCount(slot); i++, row++) {
        const extent = parts.index(slot)!.at(i)
        out.firstOffsets[row] = extents.firstOffset.get(extent)
        out.lastOffsets[row] = extents.lastOffset.get(extent)
        out.maxTimestampsMs[row] = extents.maxTimestampMs.get(extent)
        out.originalBytes[row] = extents.originalBytes.get(extent)
        out.commitTimesMs[row] = extents.commitTimeMs.get(extent)
        if (!extents.isTable(extent)) {
          out.where[row] = extents.where.get(extent)
          out.places[row] = extents.place.get(extent)
        } else {
          const list = extents.files(extent)
          out.where[row] = list.length
          out.places[row] = IN_FILE
          files.push(...list)
        }
      }
    }
  }
  return { ...out, files }
}

function dumpProducers(rooms: Rooms): StateData['producers'] {
  const { producerRows } = rooms
  const column = () => new Float64Array(producerRows.count)
  const out = {
    topics: column(),
    partitions: column(),
    producerIds: column(),
    epochs: column(),
    lastAppendsMs: column(),
    batchCounts: column(),
  }
  const firstSequences: number[] = []
  const counts: number[] = []
  const firstOffsets: number[] = []
  const appendTimesMs: number[] = []
  let row = 0
  for (const { topic, slots } of sortedTopics(rooms)) {
    slots.forEach((slot, partition) => {
      const sorted = producerRows.slotsOf(slot).sort((a, b) => producerRows.producerId.get(a) - producerRows.producerId.get(b))
      for (const producer of sorted) {
        const batches = producerRows.batches(producer)
        out.topics[row] = topic
        out.partitions[row] = partition
        out.producerIds[row] = producerRows.producerId.get(producer)
        out.epochs[row] = producerRows.epoch(producer)
        out.lastAppendsMs[row] = producerRows.lastAppendMs.get(producer)
        out.batchCounts[row++] = batches.length
        for (const [firstSequence, count, firstOffset, appendTimeMs] of batches) {
          firstSequences.push(firstSequence)
          counts.push(count)
          firstOffsets.push(firstOffset)
          appendTimesMs.push(appendTimeMs)
        }
      }
    })
  }
  return { ...out, firstSequences, counts, firstOffsets, appendTimesMs }
}

function dumpTables({ tableRows }: Rooms): TableData[] {
  return [...tableRows.byUuid.values()].sort(byText((table) => table.uuid)).map((table) => ({
    uuid: table.uuid,
    topic: table.topic,
    namespace: table.namespace,
    name: table.name,
    location: table.location,
    metadataKey: table.metadataKey,
    version: table.version,
    publication: table.publication,
    snapshotId: table.snapshotId,
    dataTimeMs: table.dataTimeMs,
    createdMs: table.createdMs,
    committedMs: table.committedMs,
    typingVersion: table.typingVersion === 0 ? undefined : table.typingVersion,
    typingKey: table.typingVersion === 0 ? undefined : table.typingKey,
    files: [...table.fileRows.values()].sort((a, b) => a.id - b.id).map(dumpFile),
  }))
}

function dumpFile(file: TableFileRow): FileData {
  const { ranges } = file
  return {
    id: file.id,
    key: file.key,
    sizeBytes: file.sizeBytes,
    rows: file.rows,
    level: file.level,
    partitions: ranges.map((range) => range.partition),
    firstOffsets: ranges.map((range) => range.firstOffset),
    lastOffsets: ranges.map((range) => range.lastOffset),
    rangeRows: ranges.map((range) => range.rows),
    maxTimestampsMs: ranges.map((range) => range.maxTimestampMs),
    originalBytes: ranges.map((range) => range.originalBytes),
  }
}

function dumpGroups({ groupRows }: Rooms): GroupData[] {
  return [...groupRows.byId.values()]
    .map((row) => Object.assign(copyGroup(row.record), { offsets: sortedOffsets(row), consumer: consumerOf(row) }))
    .sort(byText((group) => group.groupId))
}

function consumerOf({ consumer }: GroupRow): GroupData['consumer'] {
  if (consumer === null) return undefined
  return { head: consumer.head, members: [...consumer.members.values()].sort(byText((member) => member.memberId)) }
}

function sortedOffsets({ offsets }: GroupRow): OffsetItem[] {
  const items: OffsetItem[] = []
  for (const partitions of offsets.values()) for (const item of partitions.values()) items.push(item)
  return items.sort((a, b) => a.topic - b.topic || a.partition - b.partition)
}
