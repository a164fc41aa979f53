import type { CommitWal, WalPart } from './commands.ts'
import { ProtoReader, signedSize, varintSize, writeSigned, writeVarint } from './varint.ts'

/** Number of `commitWal` in Proposal. */
export const COMMIT_WAL_FIELD = 22
const TAG = (COMMIT_WAL_FIELD << 3) | 2

type Column = readonly number[]
const NONE: Column = []

/** Thrown for a field that this program does not know (L5). */
export class UnknownField extends Error {}

/**
 * CommitWal by hand, since every produce passes here: the same bytes that protobufjs makes of schema/entries.ts, in a
 * quarter of the time (a test compares them both ways).
 */
export function encodeCommitWal(command: CommitWal): Uint8Array {
  const partSizes = command.parts.map(partSize)
  const keyBytes = Buffer.byteLength(command.key)
  let bodyBytes = lengthFieldSize(keyBytes) + numberFieldSize(command.sizeBytes) + numberFieldSize(command.walSequence)
  for (const sizeBytes of partSizes) bodyBytes += 1 + varintSize(sizeBytes) + sizeBytes
  const buffer = Buffer.allocUnsafe(2 + varintSize(bodyBytes) + bodyBytes)
  let at = writeVarint(buffer, 0, TAG)
  at = writeVarint(buffer, at, bodyBytes)
  if (keyBytes > 0) {
    buffer[at++] = (1 << 3) | 2
    at = writeVarint(buffer, at, keyBytes)
    at += buffer.write(command.key, at)
  }
  at = numberField(buffer, at, 2, command.sizeBytes)
  at = numberField(buffer, at, 3, command.walSequence)
  command.parts.forEach((part, i) => {
    buffer[at++] = (4 << 3) | 2
    at = writeVarint(buffer, at, partSizes[i])
    at = writePart(buffer, at, part)
  })
  return buffer
}

function partSize(part: WalPart): number {
  return (
    numberFieldSize(part.topic) +
    numberFieldSize(part.partition) +
    numberFieldSize(part.byteOffset) +
    lengthFieldSize(unsignedColumnSize(part.sizesBytes)) +
    lengthFieldSize(unsignedColumnSize(part.offsetCounts)) +
    lengthFieldSize(signedColumnSize(part.maxTimestampsMs)) +
    lengthFieldSize(signedColumnSize(part.producerIds)) +
    lengthFieldSize(signedColumnSize(part.producerEpochs)) +
    lengthFieldSize(signedColumnSize(part.baseSequences)) +
    lengthFieldSize(signedColumnSize(part.appendTimesMs)) +
    lengthFieldSize(unsignedColumnSize(part.transactions ?? NONE))
  )
}

function writePart(buffer: Uint8Array, at: number, part: WalPart): number {
  at = numberField(buffer, at, 1, part.topic)
  at = numberField(buffer, at, 2, part.partition)
  at = numberField(buffer, at, 3, part.byteOffset)
  at = unsignedColumn(buffer, at, 4, part.sizesBytes)
  at = unsignedColumn(buffer, at, 5, part.offsetCounts)
  at = signedColumn(buffer, at, 6, part.maxTimestampsMs)
  at = signedColumn(buffer, at, 7, part.producerIds)
  at = signedColumn(buffer, at, 8, part.producerEpochs)
  at = signedColumn(buffer, at, 9, part.baseSequences)
  at = signedColumn(buffer, at, 10, part.appendTimesMs)
  return unsignedColumn(buffer, at, 11, part.transactions ?? NONE)
}

/** proto3 leaves zeros and empty lists out. */
function numberFieldSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value)
}

function lengthFieldSize(sizeBytes: number): number {
  return sizeBytes === 0 ? 0 : 1 + varintSize(sizeBytes) + sizeBytes
}

function unsignedColumnSize(column: Column): number {
  let sizeBytes = 0
  for (let i = 0; i < column.length; i++) sizeBytes += varintSize(column[i])
  return sizeBytes
}

function signedColumnSize(column: Column): number {
  let sizeBytes = 0
  for (let i = 0; i < column.length; i++) sizeBytes += signedSize(column[i])
  return sizeBytes
}

function numberField(buffer: Uint8Array, at: number, id: number, value: number): number {
  if (value === 0) return at
  buffer[at++] = id << 3
  return writeVarint(buffer, at, value)
}

function unsignedColumn(buffer: Uint8Array, at: number, id: number, column: Column): number {
  if (column.length === 0) return at
  buffer[at++] = (id << 3) | 2
  at = writeVarint(buffer, at, unsignedColumnSize(column))
  for (let i = 0; i < column.length; i++) at = writeVarint(buffer, at, column[i])
  return at
}

function signedColumn(buffer: Uint8Array, at: number, id: number, column: Column): number {
  if (column.length === 0) return at
  buffer[at++] = (id << 3) | 2
  at = writeVarint(buffer, at, signedColumnSize(column))
  for (let i = 0; i < column.length; i++) at = writeSigned(buffer, at, column[i])
  return at
}

/** Decodes the body of a CommitWal. Errors: UnknownField, RangeError. */
export function decodeCommitWal(bytes: Uint8Array): CommitWal & { readonly kind: 'commitWal' } {
  const reader = new ProtoReader(bytes)
  let key = ''
  let sizeBytes = 0
  let walSequence = 0
  const parts: WalPart[] = []
  while (reader.at < reader.end) {
    const tag = reader.varint()
    if (tag === 10) key = Buffer.from(reader.slice()).toString('utf8')
    else if (tag === 16) sizeBytes = reader.varint()
    else if (tag === 24) walSequence = reader.varint()
    else if (tag === 34) parts.push(readPart(reader))
    else throw new UnknownField()
  }
  if (reader.at !== reader.end) throw new RangeError('a field reaches beyond its message')
  return { kind: 'commitWal', key, sizeBytes, walSequence, parts }
}

function readPart(reader: ProtoReader): WalPart {
  const end = reader.delimited()
  const part = {
    topic: 0,
    partition: 0,
    byteOffset: 0,
    sizesBytes: [] as number[],
    offsetCounts: [] as number[],
    maxTimestampsMs: [] as number[],
    producerIds: [] as number[],
    producerEpochs: [] as number[],
    baseSequences: [] as number[],
    appendTimesMs: [] as number[],
    transactions: NONE as number[],
  }
  while (reader.at < end) {
    switch (reader.varint()) {
      case 8:
        part.topic = reader.varint()
        break
      case 16:
        part.partition = reader.varint()
        break
      case 24:
        part.byteOffset = reader.varint()
        break
      case 34:
        unsigned(reader, part.sizesBytes)
        break
      case 42:
        unsigned(reader, part.offsetCounts)
        break
      case 50:
        signed(reader, part.maxTimestampsMs)
        break
      case 58:
        signed(reader, part.producerIds)
        break
      case 66:
        signed(reader, part.producerEpochs)
        break
      case 74:
        signed(reader, part.baseSequences)
        break
      case 82:
        signed(reader, part.appendTimesMs)
        break
      case 90:
        unsigned(reader, (part.transactions = []))
        break
      default:
        throw new UnknownField()
    }
  }
  if (reader.at !== end) throw new RangeError('a field reaches beyond its message')
  return part
}

function unsigned(reader: ProtoReader, into: number[]): void {
  const end = reader.delimited()
  while (reader.at < end) into.push(reader.varint())
}

function signed(reader: ProtoReader, into: number[]): void {
  const end = reader.delimited()
  while (reader.at < end) into.push(reader.signed())
}
