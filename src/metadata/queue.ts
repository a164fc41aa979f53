import { FrazilError } from '../base/errors.ts'
import type { Command, Result } from './commands.ts'
import type { Forwarded } from './relay.ts'
import { type EntryHead, type ProposalBytes, assembleEntry, encodeCommand } from './codec.ts'

/** An entry takes no further proposal beyond this many bytes of them. */
const ENTRY_BYTES = 1 << 20
/** A single proposal may be larger than that, up to here. */
const PROPOSAL_BYTES_MAX = 16 << 20
/** What may wait at most (LIMIT beyond it): callers bound themselves long before. */
const QUEUE_BYTES_MAX = 256 << 20

export interface Pending {
  /** Encoded commands: one of ours, or what another pod forwarded, which goes into one entry as a whole. */
  readonly proposals: readonly Uint8Array[]
  readonly sizeBytes: number
  /** Whose they are when not ours (L1). */
  readonly foreign: { readonly incarnation: number; readonly firstSequence: number } | null
  readonly attachment: readonly Uint8Array[]
  readonly attachmentBytes: number
  readonly resolve: (results: readonly Result[], entry: number) => void
  readonly reject: (error: FrazilError) => void
}

/** Proposals that travel as one entry. */
export interface Group {
  readonly pendings: readonly Pending[]
  readonly attachment: readonly Uint8Array[]
  readonly attachmentBytes: number
}

/** Proposals waiting for the entry in flight; everything that waited goes into the next one (group commit). */
export class ProposalQueue {
  readonly #attachmentMaxBytes: number
  #pendings: Pending[] = []
  #bytes = 0

  constructor(attachmentMaxBytes: number) {
    this.#attachmentMaxBytes = attachmentMaxBytes
  }

  get length(): number {
    return this.#pendings.length
  }

  /** Errors: LIMIT, REFUSED. The command is encoded now: later changes of what it refers to have no effect. */
  push(command: Command, attachment: readonly Uint8Array[] | undefined, settle: Pick<Pending, 'resolve' | 'reject'>): void {
    const attachmentBytes = attachment?.reduce((sum, part) => sum + part.length, 0) ?? 0
    const inline = command.kind === 'commitWal' && command.key === ''
    if (attachmentBytes > 0 && !inline) throw new FrazilError('REFUSED', 'only a commitWal with key "" carries an attachment')
    if (inline && attachmentBytes !== command.sizeBytes) {
      throw new FrazilError('REFUSED', `the attachment has ${attachmentBytes} bytes, the command says ${command.sizeBytes}`)
    }
    if (attachmentBytes > this.#attachmentMaxBytes) {
      throw new FrazilError(
        'LIMIT',
        `an attachment of ${attachmentBytes} bytes is above the ${this.#attachmentMaxBytes} that the log takes`,
      )
    }
    const bytes = encodeCommand(command)
    if (bytes.length > PROPOSAL_BYTES_MAX)
      throw new FrazilError('LIMIT', `a metadata proposal of ${bytes.length} bytes is above ${PROPOSAL_BYTES_MAX}`)
    const sizeBytes = bytes.length + attachmentBytes
    if (this.#bytes + sizeBytes > QUEUE_BYTES_MAX) throw new FrazilError('LIMIT', 'too many metadata proposals are waiting')
    this.#bytes += sizeBytes
    this.#pendings.push({
      proposals: [bytes],
      sizeBytes: bytes.length,
      foreign: null,
      attachment: attachment ?? [],
      attachmentBytes,
      ...settle,
    })
  }

  /** Proposals of another pod. Error: LIMIT. */
  pushForwarded({ incarnation, firstSequence, proposals }: Forwarded, settle: Pick<Pending, 'resolve' | 'reject'>): void {
    const sizeBytes = proposals.reduce((sum, bytes) => sum + bytes.length, 0)
    if (sizeBytes > 2 * PROPOSAL_BYTES_MAX || this.#bytes + sizeBytes > QUEUE_BYTES_MAX)
      throw new FrazilError('LIMIT', 'too many metadata proposals are waiting')
    this.#bytes += sizeBytes
    this.#pendings.push({ proposals, sizeBytes, foreign: { incarnation, firstSequence }, attachment: [], attachmentBytes: 0, ...settle })
  }

  /** Takes the next group, in the order of the proposals: up to 1 MiB of them and what the log takes as attachment. */
  take(): Group {
    const attachment: Uint8Array[] = []
    let bytes = 0
    let attachmentBytes = 0
    let count = 0
    for (const pending of this.#pendings) {
      const fits = bytes + pending.sizeBytes <= ENTRY_BYTES && attachmentBytes + pending.attachmentBytes <= this.#attachmentMaxBytes
      if (count > 0 && !fits) break
      bytes += pending.sizeBytes
      attachmentBytes += pending.attachmentBytes
      attachment.push(...pending.attachment)
      count++
    }
    this.#bytes -= bytes + attachmentBytes
    const pendings = this.#pendings
    this.#pendings = pendings.slice(count)
    pendings.length = count
    return { pendings, attachment, attachmentBytes }
  }

  /** Rejects everything that waits. */
  fail(error: FrazilError): void {
    const pendings = this.#pendings
    this.#pendings = []
    this.#bytes = 0
    for (const { reject } of pendings) reject(error)
  }
}

/** The entry of a group, our proposals numbered from `firstSequence` on; incarnation 0 means registration. */
export function groupEntry(head: EntryHead, group: Group, incarnation: number, firstSequence: number): Buffer {
  let attachmentOffset = 0
  let next = firstSequence
  const proposals: ProposalBytes[] = []
  for (const { proposals: commands, foreign, attachmentBytes } of group.pendings) {
    const offset = attachmentBytes === 0 ? 0 : attachmentOffset
    attachmentOffset += attachmentBytes
    commands.forEach((bytes, i) => {
      if (foreign !== null) {
        const sequence = foreign.firstSequence + i
        proposals.push({ incarnation: foreign.incarnation, sequence, attachmentOffset: 0, bytes })
      } else proposals.push({ incarnation, sequence: incarnation === 0 ? 0 : next++, attachmentOffset: offset, bytes })
    })
  }
  return assembleEntry(head, proposals)
}
