import { createHash } from 'node:crypto'
import protobuf, { type Type } from 'protobufjs'
import { FrazilError } from '../base/errors.ts'
import type { Command } from './commands.ts'
import { ENTRY_VERSION, ProposalType } from './schema/entries.ts'
import { ProtoReader, varintSize, writeVarint } from './varint.ts'
import { COMMIT_WAL_FIELD, UnknownField, decodeCommitWal, encodeCommitWal } from './walCodec.ts'

/** The hash before entry 1. */
export const GENESIS_HASH: Buffer = Buffer.alloc(32)

const { Reader } = protobuf
const NO_BYTES = new Uint8Array(0)

const kinds: ReadonlySet<string> = new Set(ProposalType.oneofs.command.oneof)

export interface DecodedProposal {
  readonly incarnation: number
  readonly sequence: number
  readonly attachmentOffset: number
  readonly command: Command
}

export interface DecodedEntry {
  readonly number: number
  readonly previousHash: Uint8Array
  readonly timeMs: number
  readonly writer: number
  readonly attachmentBytes: number
  readonly proposals: readonly DecodedProposal[]
}

/** The chain (L3): SHA-256 over the predecessor's hash and the entry's bytes. */
export function entryHash(previousHash: Uint8Array, bytes: Uint8Array): Buffer {
  return createHash('sha256').update(previousHash).update(bytes).digest()
}

/** Bytes of a Proposal that has its command only; assembleEntry puts the other fields before them. */
export function encodeCommand(command: Command): Uint8Array {
  if (!kinds.has(command.kind)) throw new FrazilError('REFUSED', `"${String(command.kind)}" is no metadata command`)
  if (command.kind === 'commitWal') return encodeCommitWal(command)
  return ProposalType.encode({ [command.kind]: command }).finish()
}

export interface EntryHead {
  readonly number: number
  readonly previousHash: Uint8Array
  readonly timeMs: number
  readonly writer: number
  readonly attachmentBytes: number
}

export interface ProposalBytes {
  readonly incarnation: number
  readonly sequence: number
  readonly attachmentOffset: number
  readonly bytes: Uint8Array
}

/**
 * Joins encoded commands into one entry. Protobuf lets a message be the concatenation of its parts, so commands are
 * encoded once, when proposed, whatever number and sequence they get in the end.
 */
export function assembleEntry(head: EntryHead, proposals: readonly ProposalBytes[]): Buffer {
  let sizeBytes = 128
  for (const proposal of proposals) sizeBytes += proposal.bytes.length + 48
  const buffer = Buffer.allocUnsafe(sizeBytes)
  let at = field(buffer, 0, 1, head.number)
  buffer[at++] = (2 << 3) | 2
  buffer[at++] = 32
  buffer.set(head.previousHash, at)
  at = field(buffer, at + 32, 3, ENTRY_VERSION)
  at = field(buffer, at, 4, head.timeMs)
  at = field(buffer, at, 5, head.writer)
  at = field(buffer, at, 6, head.attachmentBytes)
  for (const { incarnation, sequence, attachmentOffset, bytes } of proposals) {
    buffer[at++] = (7 << 3) | 2
    at = writeVarint(buffer, at, fieldSize(incarnation) + fieldSize(sequence) + fieldSize(attachmentOffset) + bytes.length)
    at = field(buffer, at, 1, incarnation)
    at = field(buffer, at, 2, sequence)
    at = field(buffer, at, 3, attachmentOffset)
    buffer.set(bytes, at)
    at += bytes.length
  }
  return buffer.subarray(0, at)
}

/**
 * Decodes an entry. Errors: LEVEL_UNKNOWN for a higher version, an unknown command or unknown fields (L5); LOG_CORRUPT for
 * bytes that are no entry.
 */
export function decodeEntry(number: number, bytes: Uint8Array): DecodedEntry {
  try {
    return readEntry(number, bytes)
  } catch (error) {
    if (error instanceof FrazilError) throw error
    if (error instanceof UnknownField) throw newer(number, 'holds what this program does not know')
    throw new FrazilError('LOG_CORRUPT', `metadata entry ${number} cannot be decoded`, error)
  }
}

/** Error: REFUSED for bytes that are no proposal of one command: whoever reads the log would stop at it. */
export function checkProposal(bytes: Uint8Array): void {
  try {
    const { incarnation, sequence, attachmentOffset, command } = readProposal(bytes)
    const bare = incarnation === 0 && sequence === 0 && attachmentOffset === 0
    const unproposed = command.kind === 'registerIncarnation' || command.kind === 'openTimeline'
    if (bare && !unproposed && !(command.kind === 'commitWal' && command.key === '')) return
  } catch (error) {
    throw new FrazilError('REFUSED', 'a proposal that another pod sent cannot be decoded', error)
  }
  throw new FrazilError('REFUSED', 'a proposal that another pod sent is none that can be passed on')
}

function newer(number: number, what: string): FrazilError {
  return new FrazilError('LEVEL_UNKNOWN', `metadata entry ${number} ${what}: start a newer one`)
}

function readEntry(wanted: number, bytes: Uint8Array): DecodedEntry {
  const reader = new ProtoReader(bytes)
  let number = 0
  let previousHash: Uint8Array = NO_BYTES
  let version = 0
  let timeMs = 0
  let writer = 0
  let attachmentBytes = 0
  const proposals: DecodedProposal[] = []
  while (reader.at < reader.end) {
    const tag = reader.varint()
    if (tag === 8) number = reader.varint()
    else if (tag === 18) previousHash = reader.slice()
    else if (tag === 24) {
      version = reader.varint()
      // Before anything that a higher version may have put differently.
      if (version > ENTRY_VERSION) throw newer(wanted, `has version ${version}, this program reads up to ${ENTRY_VERSION}`)
    } else if (tag === 32) timeMs = reader.varint()
    else if (tag === 40) writer = reader.varint()
    else if (tag === 48) attachmentBytes = reader.varint()
    else if (tag === 58) proposals.push(readProposal(reader.slice()))
    else if (version > 0) throw new UnknownField()
    else throw new RangeError('no entry begins like this')
  }
  if (reader.at !== reader.end || version < 1 || number !== wanted || previousHash.length !== 32) {
    throw new FrazilError('LOG_CORRUPT', `metadata entry ${wanted} does not say that it is entry ${wanted}`)
  }
  return { number, previousHash, timeMs, writer, attachmentBytes, proposals }
}

function readProposal(bytes: Uint8Array): DecodedProposal {
  const reader = new ProtoReader(bytes)
  let incarnation = 0
  let sequence = 0
  let attachmentOffset = 0
  let command: Command | null = null
  while (reader.at < reader.end) {
    const tag = reader.varint()
    if (tag === 8) incarnation = reader.varint()
    else if (tag === 16) sequence = reader.varint()
    else if (tag === 24) attachmentOffset = reader.varint()
    else command = readCommand(tag >>> 3, tag & 7, reader)
  }
  if (reader.at !== reader.end) throw new RangeError('a field reaches beyond its message')
  if (command === null) throw new UnknownField()
  return { incarnation, sequence, attachmentOffset, command }
}

function readCommand(id: number, wireType: number, reader: ProtoReader): Command {
  const field = ProposalType.fieldsById[id]
  if (field === undefined || wireType !== 2 || !kinds.has(field.name)) throw new UnknownField()
  const bytes = reader.slice()
  if (id === COMMIT_WAL_FIELD) return decodeCommitWal(bytes)
  const library = Reader.create(bytes)
  library.discardUnknown = false
  const command = (field.resolvedType as Type).decode(library) as unknown as { kind: string }
  if (hasUnknown(command)) throw new UnknownField()
  command.kind = field.name
  return command as unknown as Command
}

/** True when protobufjs met a field that the schema does not have, at any depth. */
function hasUnknown(value: unknown): boolean {
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return false
  if (Array.isArray(value)) return value.some(hasUnknown)
  return (value as { readonly $unknowns?: unknown }).$unknowns !== undefined || Object.values(value).some(hasUnknown)
}

/** Writes a varint field with a number below 16; proto3 leaves zeros out. */
function field(buffer: Buffer, at: number, id: number, value: number): number {
  if (value === 0) return at
  buffer[at++] = id << 3
  return writeVarint(buffer, at, value)
}

function fieldSize(value: number): number {
  return value === 0 ? 0 : 1 + varintSize(value)
}
