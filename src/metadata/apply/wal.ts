import { Errors } from '../../../protocol/errors.ts'
import { type CommitWal, type CommitWalResult, type Result, TXN_IMPLICIT, TXN_NONE, type WalPart } from '../commands.ts'
import { MAX_OBJECT_BYTES } from '../state/extents.ts'
import type { TopicRow } from '../state/topics.ts'
import { type Context, refused } from './context.ts'
import { ACCEPT, judgeProducer } from './producers.ts'
import { enterTransaction, judgeTransaction } from './transactional.ts'

type PartResult = CommitWalResult['parts'][number]

/**
 * Sequences one WAL object: offsets for every batch, idempotent producers decided (protocol: KIP-98), one extent a
 * partition, split around refused batches and duplicates, whose bytes are dead, and where a transaction begins. Batches are judged in order, so those of a
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
    const wrong = malformedPart(part, command.sizeBytes)
    if (wrong !== null) return wrong
  }
  return null
}

function malformedPart(part: WalPart, objectBytes: number): string | null {
  const { sizesBytes, offsetCounts, producerIds, producerEpochs, baseSequences, transactions = [] } = part
  const { length } = sizesBytes
  const even =
    offsetCounts.length === length &&
    part.maxTimestampsMs.length === length &&
    producerIds.length === length &&
    producerEpochs.length === length &&
    baseSequences.length === length &&
    part.appendTimesMs.length === length &&
    (transactions.length === length || transactions.length === 0)
  if (!even) return 'the columns of a part differ in length'
  let end = part.byteOffset
  for (let i = 0; i < length; i++) {
    end += sizesBytes[i]
    if (sizesBytes[i] < 1 || offsetCounts[i] < 1 || offsetCounts[i] > 0x7fffffff) return 'a batch without bytes or records'
    if (transactions[i] > TXN_IMPLICIT || (transactions[i] > TXN_NONE && producerIds[i] < 0)) return 'a transactional batch of nobody'
    if (producerIds[i] >= 0 && (producerEpochs[i] < 0 || baseSequences[i] < 0)) return 'a producer id without epoch or sequence'
  }
  return end > objectBytes ? 'a part reaches beyond its object' : null
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
  const { rooms, timeMs } = context
  const { parts, producerRows } = rooms
  const { sizesBytes, offsetCounts, maxTimestampsMs, producerIds, producerEpochs, baseSequences, transactions = [] } = part
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

  for (let i = 0; i < sizesBytes.length; i++) {
    const producerId = producerIds[i]
    const epoch = producerEpochs[i]
    let producer = producerId < 0 ? -1 : producerRows.find(slot, producerId)
    const kind = transactions[i] ?? TXN_NONE
    let verdict = producerId < 0 ? ACCEPT : judgeProducer(rooms, slot, producer, epoch, baseSequences[i], offsetCounts[i])
    if (producerId >= 0 && verdict.duplicateOf < 0)
      verdict = judgeTransaction(rooms, part.topic, part.partition, slot, producer, producerId, epoch, baseSequences[i], kind) ?? verdict
    const accepted = verdict === ACCEPT
    errors.push(verdict.error)
    duplicates.push(verdict.duplicateOf >= 0)
    baseOffsets.push(accepted ? endOffset : verdict.duplicateOf)
    appendTimesMs.push(accepted ? part.appendTimesMs[i] : verdict.appendTimeMs)
    if (!accepted) {
      closeRun(context, topic, slot, live, object, runOffset, endOffset, runByte, byteOffset, runMaxTimestampMs)
      byteOffset += sizesBytes[i]
      runByte = byteOffset
      runOffset = endOffset
      runMaxTimestampMs = -1
      continue
    }
    if (kind !== TXN_NONE && enterTransaction(context, part.topic, part.partition, slot, producerId, endOffset)) {
      closeRun(context, topic, slot, live, object, runOffset, endOffset, runByte, byteOffset, runMaxTimestampMs)
      runByte = byteOffset
      runOffset = endOffset
      runMaxTimestampMs = -1
    }
    if (producerId >= 0) {
      if (producer < 0) producer = producerRows.add(slot, producerId, epoch)
      else if (producerRows.epoch(producer) !== epoch) producerRows.setEpoch(producer, epoch)
      producerRows.push(producer, baseSequences[i], offsetCounts[i], endOffset, part.appendTimesMs[i], timeMs)
    }
    endOffset += offsetCounts[i]
    byteOffset += sizesBytes[i]
    if (maxTimestampsMs[i] > runMaxTimestampMs) runMaxTimestampMs = maxTimestampsMs[i]
  }
  closeRun(context, topic, slot, live, object, runOffset, endOffset, runByte, byteOffset, runMaxTimestampMs)
  if (endOffset !== startOffset) {
    parts.endOffset.set(slot, endOffset)
    topic.unconvertedRecords += endOffset - startOffset
    context.appended.push(part.topic, part.partition)
  }
  return { errors, baseOffsets, appendTimesMs, duplicates, logStartOffset: parts.logStartOffset.get(slot) }
}

/** Makes an extent of a run of batches, if there is one. */
function closeRun(
  context: Context,
  topic: TopicRow,
  slot: number,
  live: { bytes: number },
  object: number,
  firstOffset: number,
  endOffset: number,
  startByte: number,
  endByte: number,
  maxTimestampMs: number,
): void {
  if (endOffset === firstOffset) return
  const { parts } = context.rooms
  const bytes = endByte - startByte
  const extent = parts.extents.addWal(firstOffset, endOffset - 1, maxTimestampMs, bytes, context.timeMs, object, startByte)
  parts.indexForWrite(slot).push(extent)
  parts.bytes.add(slot, bytes)
  topic.unconvertedBytes += bytes
  const stable = context.rooms.transactions.open.first(slot)
  if (stable >= 0 && firstOffset >= stable) {
    topic.unstableBytes += bytes
    topic.unstableRecords += endOffset - firstOffset
  }
  live.bytes += bytes
}
