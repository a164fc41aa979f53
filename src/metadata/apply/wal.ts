import { Errors } from '../../../protocol/errors.ts'
import type { CommitWal, CommitWalResult, Result, WalPart } from '../commands.ts'
import { MAX_OBJECT_BYTES } from '../state/extents.ts'
import type { TopicRow } from '../state/topics.ts'
import { type Context, refused } from './context.ts'
import { judgeProducer, recordProducer } from './producers.ts'

type PartResult = CommitWalResult['parts'][number]

/**
 * Sequences one WAL object: offsets for every batch, idempotent producers decided (protocol: KIP-98), one extent a
 * partition, split around refused batches and duplicates, whose bytes are dead. Batches are judged in order, so those of a
 * producer behind a refused one fail by their sequence.
 */
export function commitWal(context: Context, command: CommitWal): Result {
  const { rooms } = context
  const incarnation = context.incarnation!
  if (command.walSequence <= incarnation.lastWalSequence) {
    return refused(Errors.KAFKA_STORAGE_ERROR, `WAL sequence ${command.walSequence} is not above ${incarnation.lastWalSequence}`)
  }
  const wrong = malformed(context, command)
  if (wrong !== null) return refused(Errors.INVALID_REQUEST, wrong)
  incarnation.lastWalSequence = command.walSequence

  const object = rooms.objects.nextId
  const live = { bytes: 0 }
  const parts: PartResult[] = []
  for (const part of command.parts) {
    const topic = rooms.topicRows.byNumber.get(part.topic)
    const slot = topic?.slots[part.partition]
    parts.push(topic === undefined || slot === undefined ? unknownPartition(part) : appendPart(context, topic, slot, part, object, live))
  }
  if (live.bytes === 0) {
    if (command.key !== '') rooms.deletionRows.add(command.key, context.timeMs)
    return { kind: 'wal', object: -1, parts }
  }
  rooms.objects.nextId++
  rooms.objects.add({
    id: object,
    key: command.key,
    entry: context.entry,
    entryOffset: command.key === '' ? context.attachmentOffset : 0,
    sizeBytes: command.sizeBytes,
    liveBytes: live.bytes,
    segment: false,
    createdMs: context.timeMs,
  })
  return { kind: 'wal', object, parts }
}

function malformed(context: Context, command: CommitWal): string | null {
  if (command.sizeBytes > MAX_OBJECT_BYTES) return 'the WAL object is too large'
  if (command.key === '') {
    if (context.attachmentOffset + command.sizeBytes > context.attachmentBytes) return 'the entry does not carry these bytes'
  } else if (context.rooms.objects.hasKey(command.key) || context.rooms.deletionRows.has(command.key)) {
    return `the key ${command.key} was used before`
  }
  for (const part of command.parts) {
    const { length } = part.sizesBytes
    const columns = [part.offsetCounts, part.maxTimestampsMs, part.producerIds, part.producerEpochs, part.baseSequences, part.appendTimesMs]
    for (const column of columns) if (column.length !== length) return 'the columns of a part differ in length'
    let end = part.byteOffset
    for (let i = 0; i < length; i++) {
      end += part.sizesBytes[i]
      if (part.sizesBytes[i] < 1 || part.offsetCounts[i] < 1 || part.offsetCounts[i] > 0x7fffffff) return 'a batch without bytes or records'
      if (part.producerIds[i] >= 0 && (part.producerEpochs[i] < 0 || part.baseSequences[i] < 0))
        return 'a producer id without epoch or sequence'
    }
    if (end > command.sizeBytes) return 'a part reaches beyond its object'
  }
  return null
}

function unknownPartition(part: WalPart): PartResult {
  const all = <T>(value: T): T[] => Array.from({ length: part.sizesBytes.length }, () => value)
  return {
    errors: all<number>(Errors.UNKNOWN_TOPIC_OR_PARTITION),
    baseOffsets: all(-1),
    appendTimesMs: all(-1),
    duplicates: all(false),
    logStartOffset: -1,
  }
}

function appendPart(context: Context, topic: TopicRow, slot: number, part: WalPart, object: number, live: { bytes: number }): PartResult {
  const { rooms } = context
  const { parts } = rooms
  const errors: number[] = []
  const baseOffsets: number[] = []
  const appendTimesMs: number[] = []
  const duplicates: boolean[] = []
  const startOffset = parts.endOffset.get(slot)
  let endOffset = startOffset
  let byteOffset = part.byteOffset
  // The run of accepted batches that are neighbours in the object.
  let runOffset = endOffset
  let runByte = byteOffset
  let runMaxTimestampMs = -1

  const closeRun = (): void => {
    if (endOffset === runOffset) return
    const bytes = byteOffset - runByte
    parts
      .indexForWrite(slot)
      .push(parts.extents.addWal(runOffset, endOffset - 1, runMaxTimestampMs, bytes, context.timeMs, object, runByte))
    parts.bytes.add(slot, bytes)
    topic.unconvertedBytes += bytes
    live.bytes += bytes
  }

  for (let i = 0; i < part.sizesBytes.length; i++) {
    const count = part.offsetCounts[i]
    const verdict = judgeProducer(rooms, slot, part, i)
    if (verdict.error !== Errors.NONE || verdict.duplicateOf >= 0) {
      closeRun()
      errors.push(verdict.error)
      baseOffsets.push(verdict.duplicateOf)
      appendTimesMs.push(verdict.appendTimeMs)
      duplicates.push(verdict.duplicateOf >= 0)
      byteOffset += part.sizesBytes[i]
      runByte = byteOffset
      runOffset = endOffset
      runMaxTimestampMs = -1
      continue
    }
    recordProducer(rooms, slot, part, i, endOffset, context.timeMs)
    errors.push(Errors.NONE)
    baseOffsets.push(endOffset)
    appendTimesMs.push(part.appendTimesMs[i])
    duplicates.push(false)
    endOffset += count
    byteOffset += part.sizesBytes[i]
    if (part.maxTimestampsMs[i] > runMaxTimestampMs) runMaxTimestampMs = part.maxTimestampsMs[i]
  }
  closeRun()
  if (endOffset !== startOffset) {
    parts.endOffset.set(slot, endOffset)
    topic.unconvertedRecords += endOffset - startOffset
    context.appended.push(part.topic, part.partition)
  }
  return { errors, baseOffsets, appendTimesMs, duplicates, logStartOffset: parts.logStartOffset.get(slot) }
}
