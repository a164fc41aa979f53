import { Errors } from '../../../protocol/errors.ts'
import type { AlterConfigs, CreatePartitions, CreateTopic, DeleteTopic, Result, TrimPartitions } from '../commands.ts'
import { TableRow } from '../state/tables.ts'
import { TopicRow } from '../state/topics.ts'
import { type Context, OK, refused } from './context.ts'
import { dropFront } from './extents.ts'
import { removeTable } from './tables.ts'

/** Kafka's Topic.validate: 1 to 249 of these characters, and neither '.' nor '..'. */
const TOPIC_NAME = /^[a-zA-Z0-9._-]{1,249}$/
const PARTITIONS_MAX = 100_000

export function createTopic(context: Context, command: CreateTopic): Result {
  const { topicRows, tableRows, parts } = context.rooms
  const { name, topicId, partitions } = command
  if (!TOPIC_NAME.test(name) || name === '.' || name === '..') return refused(Errors.INVALID_TOPIC_EXCEPTION, `"${name}" is no topic name`)
  if (topicRows.byName.has(name)) return refused(Errors.TOPIC_ALREADY_EXISTS, `topic ${name} exists`)
  if (topicRows.collides(name)) return refused(Errors.INVALID_TOPIC_EXCEPTION, `topic ${name} differs from another one only in "." and "_"`)
  if (partitions < 1 || partitions > PARTITIONS_MAX)
    return refused(Errors.INVALID_PARTITIONS, `a topic cannot have ${partitions} partitions`)
  const { namespace, name: tableName, uuid } = command.table
  const free = tableRows.freeName(namespace, tableName)
  const location = `tables/${namespace}/${free}-${topicId.slice(0, 8)}`
  if (
    topicRows.byId.has(topicId) ||
    tableRows.byUuid.has(uuid) ||
    tableRows.hasLocation(location) ||
    context.rooms.deletionRows.has(`${location}/`)
  ) {
    return refused(Errors.INVALID_REQUEST, 'the topic id or table id was used before: draw another one')
  }

  const topic = topicRows.nextNumber++
  const slots = Array.from({ length: partitions }, (_, partition) => parts.add(topic, partition))
  const configs = new Map(Object.entries(command.configs))
  topicRows.add(new TopicRow({ topic, topicId, name, createdMs: context.timeMs, slots, configs, configVersion: 1 }))
  tableRows.add(new TableRow({ uuid, topic, namespace, name: free, location, createdMs: context.timeMs }))
  return { kind: 'topic', topic }
}

/** New partitions are empty; the others keep their place, and rows that the table has keep their partition. */
export function createPartitions({ rooms }: Context, command: CreatePartitions): Result {
  const { topicRows, parts } = rooms
  const topic = topicRows.byNumber.get(command.topic)
  if (topic === undefined) return refused(Errors.UNKNOWN_TOPIC_OR_PARTITION, 'there is no such topic')
  const { partitions } = command
  if (partitions <= topic.slots.length || partitions > PARTITIONS_MAX)
    return refused(Errors.INVALID_PARTITIONS, `topic ${topic.name} has ${topic.slots.length} partitions, it cannot have ${partitions}`)
  for (let partition = topic.slots.length; partition < partitions; partition++) topic.slots.push(parts.add(topic.topic, partition))
  return OK
}

/** Everything of the topic goes at once; its table stays under another name or goes too (T20). */
export function deleteTopic(context: Context, command: DeleteTopic): Result {
  const { topicRows, tableRows, parts, producerRows, groupRows, transactions } = context.rooms
  const topic = topicRows.byNumber.get(command.topic)
  if (topic === undefined) return refused(Errors.UNKNOWN_TOPIC_OR_PARTITION, 'there is no such topic')
  for (const slot of topic.slots) {
    dropFront(context, topic, slot, parts.extentCount(slot))
    producerRows.removeAllOf(slot)
    parts.remove(slot)
  }
  groupRows.removeTopic(command.topic)
  transactions.removeTopic(command.topic, topic.slots)
  topicRows.remove(topic)
  const table = tableRows.byTopic.get(command.topic)!
  // Nobody can load a table that was never published: keeping it would keep an empty name.
  if (command.keepTableAs !== '' && table.metadataKey !== '') tableRows.release(table, command.keepTableAs)
  else removeTable(context, table, command.graceMs)
  return OK
}

export function trimPartitions(context: Context, command: TrimPartitions): Result {
  const { topicRows, parts, transactions } = context.rooms
  const logStartOffsets = command.trims.map(({ topic: number, partition, logStartOffset }) => {
    const topic = topicRows.byNumber.get(number)
    const slot = topic?.slots[partition]
    if (topic === undefined || slot === undefined || logStartOffset > parts.endOffset.get(slot)) return -1
    if (logStartOffset > parts.logStartOffset.get(slot)) {
      parts.logStartOffset.set(slot, logStartOffset)
      dropFront(context, topic, slot, parts.find(slot, logStartOffset))
      transactions.aborted.dropBelow(slot, logStartOffset)
    }
    return parts.logStartOffset.get(slot)
  })
  return { kind: 'trimmed', logStartOffsets }
}

export function alterConfigs({ rooms }: Context, command: AlterConfigs): Result {
  const target = command.target as { readonly topic?: number; readonly broker?: string; readonly group?: string }
  if (Object.hasOwn(target, 'topic')) {
    const topic = rooms.topicRows.byNumber.get(target.topic!)
    if (topic === undefined) return refused(Errors.UNKNOWN_TOPIC_OR_PARTITION, 'there is no such topic')
    change(topic.configs, command)
    topic.configVersion++
    return OK
  }
  const all = Object.hasOwn(target, 'group') ? rooms.configs.groups : rooms.configs.brokers
  const name = (Object.hasOwn(target, 'group') ? target.group : target.broker) ?? ''
  const configs = new Map(all.get(name))
  change(configs, command)
  if (configs.size === 0) all.delete(name)
  else all.set(name, configs)
  return OK
}

function change(configs: Map<string, string>, { set, remove }: AlterConfigs): void {
  for (const [key, value] of Object.entries(set)) configs.set(key, value)
  for (const key of remove) configs.delete(key)
}
