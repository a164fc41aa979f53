import { FrazilError } from '../base/errors.ts'
import type { Command, Result } from './commands.ts'
import { checkProposal, encodeCommand } from './codec.ts'

/** An entry takes no further proposal beyond this many bytes of them. */
const ENTRY_BYTES = 1 << 20
/** A single proposal may be larger than that, up to here. */
const PROPOSAL_BYTES_MAX = 16 << 20
/** What may wait at most (LIMIT beyond it): callers bound themselves long before. */
const QUEUE_BYTES_MAX = 256 << 20

/** Answers a proposal; `entry` is the one that holds it. */
export type Resolve = (result: Result, entry: number) => void

/** A proposal until it is answered, once. */
export class Pending {
  readonly bytes: Uint8Array
  readonly attachment: readonly Uint8Array[]
  readonly attachmentBytes: number
  /** Of another pod: the numbers it came with. 0 for ours. */
  readonly foreign: number
  /** Ours: 0 until it is numbered. */
  sequence: number
  /** It was sent to another pod under this sequence, which therefore stays. */
  frozen = false
  settled = false
  readonly #resolve: Resolve
  readonly #reject: (error: FrazilError) => void

  constructor(
    bytes: Uint8Array,
    more: { attachment?: readonly Uint8Array[]; attachmentBytes?: number; foreign?: number; sequence?: number },
    resolve: Resolve,
    reject: (error: FrazilError) => void,
  ) {
    this.bytes = bytes
    this.attachment = more.attachment ?? []
    this.attachmentBytes = more.attachmentBytes ?? 0
    this.foreign = more.foreign ?? 0
    this.sequence = more.sequence ?? 0
    this.#resolve = resolve
    this.#reject = reject
  }

  resolve(result: Result, entry: number): void {
    if (this.settled) return
    this.settled = true
    this.#resolve(result, entry)
  }

  reject(error: FrazilError): void {
    if (this.settled) return
    this.settled = true
    this.#reject(error)
  }
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
  push(
    command: Command,
    attachment: readonly Uint8Array[] | undefined,
    settle: { readonly resolve: Resolve; readonly reject: (error: FrazilError) => void },
  ): void {
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
    this.#add(new Pending(encodeCommand(command), { attachment, attachmentBytes }, settle.resolve, settle.reject))
  }

  /** A proposal of another pod. Errors: LIMIT, REFUSED for what no reader of the log could decode. */
  pushForeign(
    incarnation: number,
    sequence: number,
    bytes: Uint8Array,
    settle: { readonly resolve: Resolve; readonly reject: (error: FrazilError) => void },
  ): void {
    if (!(Number.isSafeInteger(incarnation) && incarnation > 0 && Number.isSafeInteger(sequence) && sequence > 0))
      throw new FrazilError('REFUSED', `${incarnation}, ${sequence} is no incarnation with a sequence`)
    checkProposal(bytes)
    this.#add(new Pending(bytes, { foreign: incarnation, sequence }, settle.resolve, settle.reject))
  }

  #add(pending: Pending): void {
    if (pending.bytes.length > PROPOSAL_BYTES_MAX)
      throw new FrazilError('LIMIT', `a metadata proposal of ${pending.bytes.length} bytes is above ${PROPOSAL_BYTES_MAX}`)
    const sizeBytes = pending.bytes.length + pending.attachmentBytes
    if (this.#bytes + sizeBytes > QUEUE_BYTES_MAX) throw new FrazilError('LIMIT', 'too many metadata proposals are waiting')
    this.#bytes += sizeBytes
    this.#pendings.push(pending)
  }

  /** Takes the next group, in the order of the proposals: up to 1 MiB of them and what the log takes as attachment. */
  take(): readonly Pending[] {
    let bytes = 0
    let attachmentBytes = 0
    let count = 0
    for (const pending of this.#pendings) {
      const fits = bytes + pending.bytes.length <= ENTRY_BYTES && attachmentBytes + pending.attachmentBytes <= this.#attachmentMaxBytes
      if (count > 0 && !fits) break
      bytes += pending.bytes.length
      attachmentBytes += pending.attachmentBytes
      count++
    }
    this.#bytes -= bytes + attachmentBytes
    const pendings = this.#pendings
    this.#pendings = pendings.slice(count)
    pendings.length = count
    return pendings
  }

  /** Rejects everything that waits. */
  fail(error: FrazilError): void {
    const pendings = this.#pendings
    this.#pendings = []
    this.#bytes = 0
    for (const pending of pendings) pending.reject(error)
  }
}
