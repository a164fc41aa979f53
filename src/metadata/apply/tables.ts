import { Errors } from '../../../protocol/errors.ts'
import type { CommitTable, DropTable, FileRange, Result } from '../commands.ts'
import type { SetTableTyping } from '../typingCommands.ts'
import type { TopicRow } from '../state/topics.ts'
import { TableFileRow, type TableRow } from '../state/tables.ts'
import { type Context, OK, refused } from './context.ts'
import { type PartitionChange, type PartitionPlan, carryOutPlan, planPartition } from './tableExtents.ts'

/** Offsets and the table pointer move together, or neither does (L7, P4). */
export function commitTable(context: Context, command: CommitTable): Result {
  const { rooms } = context
  const topic = rooms.topicRows.byNumber.get(command.topic)
  const table = rooms.tableRows.byTopic.get(command.topic)
  if (topic === undefined || table === undefined) return no('the topic is gone')
  if (table.version !== command.expectedVersion) return no(`the table is at version ${table.version}`)
  if (command.publication < table.publication) return no(`publication ${table.publication} is out already`)
  const wrong = checkKeys(context, table, command)
  if (wrong !== null) return no(wrong)

  const plans: PartitionPlan[] = []
  for (const change of changesByPartition(context, topic, table, command).values()) {
    const plan = planPartition(context, table, change)
    if (typeof plan === 'string') return no(plan)
    plans.push(plan)
  }

  const { tableRows, deletionRows } = rooms
  for (const plan of plans) carryOutPlan(context, topic, plan)
  for (const id of command.removed) tableRows.removeFile(tableRows.files.get(id)!)
  for (const file of command.added) tableRows.addFile(new TableFileRow(tableRows.nextFile++, table, file))
  for (const { key, graceMs } of command.obsolete) deletionRows.add(key, context.timeMs + graceMs)
  table.version++
  table.metadataKey = command.metadataKey
  table.publication = command.publication
  table.snapshotId = command.snapshotId
  table.dataTimeMs = Math.max(table.dataTimeMs, command.dataTimeMs)
  table.committedMs = context.timeMs
  return { kind: 'table', accepted: true, reason: '' }
}

function no(reason: string): Result {
  return { kind: 'table', accepted: false, reason }
}

/** Nothing that is referred to may be queued for deletion, and nothing queued may be referred to. */
function checkKeys({ rooms }: Context, table: TableRow, command: CommitTable): string | null {
  const { deletionRows, tableRows } = rooms
  const removed = new Set(command.removed)
  if (removed.size !== command.removed.length) return 'a file is removed twice'
  for (const id of removed) if (tableRows.files.get(id)?.table !== table) return `file ${id} is not in the table`
  const added = new Set<string>()
  for (const { key } of command.added) {
    if (key === '' || added.has(key) || table.fileKeys.has(key) || deletionRows.has(key)) return `the file ${key} cannot be added`
    added.add(key)
  }
  if (deletionRows.has(command.metadataKey)) return `${command.metadataKey} is about to be deleted`
  for (const { key } of command.obsolete) {
    const id = table.fileKeys.get(key)
    if (key === command.metadataKey || added.has(key) || (id !== undefined && !removed.has(id))) return `${key} is in use, not obsolete`
  }
  return null
}

function changesByPartition(context: Context, topic: TopicRow, table: TableRow, command: CommitTable): Map<number, PartitionChange> {
  const changes = new Map<number, PartitionChange>()
  const of = (partition: number): PartitionChange => {
    let change = changes.get(partition)
    if (change === undefined) {
      change = {
        partition,
        slot: topic.slots[partition] ?? -1,
        converted: [],
        added: [],
        removed: [],
        removedFiles: new Set(command.removed),
      }
      changes.set(partition, change)
    }
    return change
  }
  for (const range of command.converted) of(range.partition).converted.push(range)
  command.added.forEach(({ ranges }, i) => {
    for (const range of ranges) of(range.partition).added.push({ file: context.rooms.tableRows.nextFile + i, range: plain(range) })
  })
  for (const id of command.removed) {
    for (const range of table.fileRows.get(id)!.ranges) of(range.partition).removed.push({ file: id, range })
  }
  return changes
}

function plain(range: FileRange): FileRange {
  const { partition, firstOffset, lastOffset, rows, maxTimestampMs, originalBytes } = range
  return { partition, firstOffset, lastOffset, rows, maxTimestampMs, originalBytes }
}

/** All below a kept table's location is queued for deletion. */
export function dropTable(context: Context, command: DropTable): Result {
  const { tableRows } = context.rooms
  const table = tableRows.byUuid.get(command.tableUuid)
  if (table === undefined) return refused(Errors.UNKNOWN_TOPIC_OR_PARTITION, 'there is no such table')
  if (table.topic !== 0) return refused(Errors.INVALID_REQUEST, 'the table belongs to a topic: delete the topic')
  removeTable(context, table, 0)
  return OK
}

/** The next typing of a table, or a refusal when another one came first. */
export function setTableTyping(context: Context, command: SetTableTyping): Result {
  const table = context.rooms.tableRows.byTopic.get(command.topic)
  if (table === undefined) return no('the topic is gone')
  if (table.typingVersion !== command.expectedVersion) return no(`the typing is at version ${table.typingVersion}`)
  if (context.rooms.deletionRows.has(command.key)) return no(`${command.key} is about to be deleted`)
  table.typingVersion++
  table.typingKey = command.key
  return { kind: 'table', accepted: true, reason: '' }
}

/** Forgets a table; its location, as a prefix, is deleted after the grace time. */
export function removeTable(context: Context, table: TableRow, graceMs: number): void {
  context.rooms.tableRows.remove(table)
  context.rooms.deletionRows.add(`${table.location}/`, context.timeMs + graceMs)
}
