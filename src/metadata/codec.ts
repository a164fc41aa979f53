import { createHash } from 'node:crypto'
import { FrazilError } from '../base/errors.ts'
import type { Command } from './commands.ts'
import { ENTRY_VERSION, EntryType, ProposalType } from './schema/entries.ts'

/** The hash before entry 1. */
export const GENESIS_HASH: Buffer = Buffer.alloc(32)

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
    at = varint(buffer, at, fieldSize(incarnation) + fieldSize(sequence) + fieldSize(attachmentOffset) + bytes.length)
    at = field(buffer, at, 1, incarnation)
    at = field(buffer, at, 2, sequence)
    at = field(buffer, at, 3, attachmentOffset)
    buffer.set(bytes, at)
    at += bytes.length
  }
  return buffer.subarray(0, at)
}

/**
 * Decodes an entry. Errors: LEVEL_UNKNOWN for a higher version, an unknown command kind or unknown fields around it (L5);
 * LOG_CORRUPT for bytes that are no entry.
 */
export function decodeEntry(number: number, bytes: Uint8Array): DecodedEntry {
  const entry = decodeMessage(number, bytes)
  if (entry.version > ENTRY_VERSION || entry.$unknowns) {
    throw new FrazilError(
      'LEVEL_UNKNOWN',
      `metadata entry ${number} has version ${entry.version}, this program reads up to ${ENTRY_VERSION}: start a newer one`,
    )
  }
  if (entry.version < 1 || entry.number !== number || entry.previousHash.length !== 32) {
    throw new FrazilError('LOG_CORRUPT', `metadata entry ${number} does not say that it is entry ${number}`)
  }
  for (let i = 0; i < entry.proposals.length; i++) {
    const proposal = entry.proposals[i]
    const kind = proposal.command as unknown as string | undefined
    if (kind === undefined || proposal.$unknowns) {
      throw new FrazilError('LEVEL_UNKNOWN', `metadata entry ${number} holds a command that this program does not know: start a newer one`)
    }
    const command = (proposal as unknown as Record<string, Command>)[kind]
    ;(command as { kind: string }).kind = kind
    entry.proposals[i] = {
      incarnation: proposal.incarnation,
      sequence: proposal.sequence,
      attachmentOffset: proposal.attachmentOffset,
      command,
    }
  }
  return entry
}

interface RawDecoded extends Omit<DecodedEntry, 'proposals'> {
  readonly version: number
  readonly $unknowns?: unknown
  readonly proposals: (DecodedProposal & { readonly $unknowns?: unknown })[]
}

function decodeMessage(number: number, bytes: Uint8Array): RawDecoded {
  try {
    return EntryType.decode(bytes) as unknown as RawDecoded
  } catch (error) {
    throw new FrazilError('LOG_CORRUPT', `metadata entry ${number} cannot be decoded`, error)
  }
}

/** Writes a varint field with a number below 16; proto3 leaves zeros out. */
function field(buffer: Buffer, at: number, id: number, value: number): number {
  if (value === 0) return at
  buffer[at++] = id << 3
  return varint(buffer, at, value)
}

function fieldSize(value: number): number {
  if (value === 0) return 0
  let sizeBytes = 2
  for (; value >= 128; value = Math.floor(value / 128)) sizeBytes++
  return sizeBytes
}

function varint(buffer: Buffer, at: number, value: number): number {
  for (; value >= 128; value = Math.floor(value / 128)) buffer[at++] = (value % 128) | 128
  buffer[at++] = value
  return at
}
