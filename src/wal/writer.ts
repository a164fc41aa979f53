import type { Clock, Timer } from '../base/clock.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { Errors } from '../../protocol/errors.ts'
import type { CommitWalResult, Result } from '../metadata/commands.ts'
import type { Metadata } from '../metadata/port.ts'
import { partsOf, WalBuffer, type Item, type Request } from './buffer.ts'
import { HEADER_BYTES } from './format.ts'
import { SequenceGaps } from './gaps.ts'
import type { AppendedBatch, Wal } from './port.ts'
import { Slots } from './slots.ts'
import type { WalSequences } from './sequences.ts'
import { uploadBuffer, type UploadOptions } from './upload.ts'

export interface CommittedBatch {
  readonly item: Item
  readonly baseOffset: number
}

export interface WriterOptions extends UploadOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly sequences: WalSequences
  /** The longest wait of an open buffer behind a commit in flight. */
  readonly lingerMs: number
  /** A buffer of this size closes. */
  readonly maxBytes: number
  /** A buffer up to this size rides inside its entry (L10). */
  readonly inlineMaxBytes: number
  /** Buffers closed and not answered; more are closed only by size, and wait for an upload to end. */
  readonly maxInFlight: number
  readonly graceMs: number
  /** Runs `fn` once the requests that have arrived are appended. */
  readonly defer: (fn: () => void) => void
  /** The batches of one commit that got offsets, in byte order, just after `apply`. */
  readonly committed: (object: number, batches: readonly CommittedBatch[]) => void
  /** How an answered buffer went. */
  readonly observe: (kind: 'inline' | 'object', sizeBytes: number, seconds: number) => void
}

/** Key and size of an uploaded object ('' and 0 inline), or why there is none. */
type Staged = { readonly key: string; readonly sizeBytes: number } | { readonly error: unknown }

/** Group commit (L2, L10, L11): one open buffer, several uploads at a time, proposals in the order of closing. */
export class WalWriter {
  readonly #options: WriterOptions
  readonly #gaps: SequenceGaps
  readonly #uploads: Slots
  readonly #idle: (() => void)[] = []
  #open = new WalBuffer()
  #inFlight = 0
  #linger: Timer | null = null
  #lingered = false
  #deferred = false
  #closed = false
  /** Settles when every buffer closed so far was proposed or failed; never rejects. */
  #turn: Promise<void> = Promise.resolve()

  constructor(options: WriterOptions) {
    this.#options = options
    this.#uploads = new Slots(options.maxInFlight)
    const { state } = options.metadata
    this.#gaps = new SequenceGaps({
      max: 10_000,
      isKnown: ({ topic, partition, batch }) => state.producer(topic, partition, batch.producerId) !== null,
    })
  }

  /** See Wal.append. */
  append(items: Parameters<Wal['append']>[0]): Promise<readonly AppendedBatch[]> {
    if (this.#closed) return Promise.reject(new FrazilError('CLOSED', 'the WAL is closed'))
    if (items.length === 0) return Promise.resolve([])
    return new Promise((resolve, reject) => {
      const sizeBytes = items.reduce((sum, { batch }) => sum + batch.bytes.length, 0)
      if (this.#open.items.length > 0 && this.#open.sizeBytes + sizeBytes > this.#options.maxBytes) this.#closeBuffer()
      const request: Request = { answers: Array.from<AppendedBatch>({ length: items.length }), resolve, reject }
      items.forEach(({ topic, partition, batch, ready }, index) => {
        this.#open.add({
          topic,
          partition,
          batch,
          ready: this.#outcome(ready),
          request,
          index,
          refused: 0,
          byteOffset: 0,
        })
      })
      this.#consider()
    })
  }

  /** Calls `propose` after the proposals of all buffers that have closed and before those of all that will (L2). It must not throw. */
  inTurn(propose: () => void): void {
    this.#turn = this.#turn.then(propose)
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#open.items.length > 0) this.#closeBuffer()
    if (this.#inFlight > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  #consider(): void {
    if (this.#open.items.length === 0) return
    if (this.#open.sizeBytes >= this.#options.maxBytes) return this.#closeBuffer()
    if (this.#inFlight === 0) {
      if (this.#deferred) return
      this.#deferred = true
      this.#options.defer(() => {
        this.#deferred = false
        if (this.#open.items.length > 0 && this.#inFlight === 0) this.#closeBuffer()
      })
    } else if (this.#lingered) {
      if (this.#inFlight < this.#options.maxInFlight) this.#closeBuffer()
    } else {
      this.#linger ??= this.#options.clock.timer(this.#options.lingerMs, () => {
        this.#lingered = true
        this.#consider()
      })
    }
  }

  #closeBuffer(): void {
    const buffer = this.#open
    this.#open = new WalBuffer()
    this.#linger?.cancel()
    this.#linger = null
    this.#lingered = false
    this.#inFlight++
    const startMs = this.#options.clock.monotonicMs()
    const inline = buffer.sizeBytes <= this.#options.inlineMaxBytes
    buffer.walSequence = this.#options.sequences.take()
    const staged = this.#stage(buffer, inline)
    const finished = (): void => this.#finished(buffer, inline, startMs)
    const broken = (error: unknown): void => {
      this.#options.logger.error({ error }, 'a WAL buffer could not be answered')
      buffer.fail(error)
    }
    // The next buffer waits until this one was proposed, not until it was answered.
    this.#turn = this.#turn
      .then(() => this.#sequence(buffer, inline, staged))
      .then(
        ({ done }) => void done.catch(broken).then(finished),
        (error: unknown) => {
          broken(error)
          finished()
        },
      )
  }

  /** Resolves with the key of the uploaded object ('' inline) once bytes are durable and validation has ended. */
  async #stage(buffer: WalBuffer, inline: boolean): Promise<Staged> {
    const validated = buffer.hasReady ? this.#validated(buffer.items) : null
    try {
      if (inline) {
        await validated
        return { key: '', sizeBytes: 0 }
      }
      buffer.place(HEADER_BYTES)
      const uploaded = await this.#uploads.run(() => uploadBuffer(buffer, this.#options))
      await validated
      return uploaded
    } catch (error) {
      await validated
      return { error }
    }
  }

  /** Never rejects, from now on: nobody listens before the buffer closes. */
  #outcome(ready: Promise<number> | undefined): Promise<number> | null {
    if (ready === undefined) return null
    return ready.catch((error: unknown) => {
      this.#options.logger.warn({ error }, 'a batch could not be validated')
      return Errors.KAFKA_STORAGE_ERROR
    })
  }

  async #validated(items: readonly Item[]): Promise<void> {
    for (const item of items) if (item.ready !== null) item.refused = await item.ready
  }

  /** Proposes the commit. What it resolves with wraps the promise of the answer, so that awaiting one is not awaiting the other. */
  async #sequence(buffer: WalBuffer, inline: boolean, staged: Promise<Staged>): Promise<{ readonly done: Promise<void> }> {
    const outcome = await staged
    if ('error' in outcome) {
      this.#lost(buffer, outcome.error)
      return { done: Promise.resolve() }
    }
    for (const item of buffer.items) {
      if (item.refused === 0) item.refused = this.#gaps.check(item)
      else this.#gaps.lost(item)
      if (item.refused !== 0) item.request.answers[item.index] = refusal(item.refused)
    }
    const live = buffer.items.filter((item) => item.refused === 0)
    if (live.length === 0) {
      if (!inline) this.#abandon(outcome.key)
      this.#answer(buffer)
      return { done: Promise.resolve() }
    }
    let attachment: Uint8Array[] | undefined
    let sizeBytes = outcome.sizeBytes
    if (inline) {
      const kept = new WalBuffer()
      for (const item of live) kept.add(item)
      kept.place(0)
      attachment = kept.items.map((item) => item.batch.bytes)
      sizeBytes = kept.sizeBytes
      live.splice(0, live.length, ...kept.items)
    }
    const { parts, itemsOf } = partsOf(live)
    const proposed = this.#options.metadata.propose(
      { kind: 'commitWal', key: outcome.key, sizeBytes, walSequence: buffer.walSequence, parts },
      attachment,
    )
    return {
      done: proposed.then(
        (result) => this.#applied(buffer, itemsOf, result),
        (error: unknown) => this.#lost(buffer, error),
      ),
    }
  }

  #applied(buffer: WalBuffer, itemsOf: readonly (readonly Item[])[], result: Result): void {
    if (result.kind === 'wal') {
      this.#options.committed(result.object, takeOffsets(itemsOf, result))
    } else {
      // Refused whole: fenced, or out of step with the log. Another try, on another pod perhaps, is right for the producer.
      this.#options.logger.error({ result, walSequence: buffer.walSequence }, 'the metadata log refused a WAL commit')
      for (const item of itemsOf.flat()) item.request.answers[item.index] = refusal(Errors.KAFKA_STORAGE_ERROR)
    }
    this.#answer(buffer)
  }

  #answer(buffer: WalBuffer): void {
    for (const request of new Set(buffer.items.map((item) => item.request))) request.resolve(request.answers)
  }

  #lost(buffer: WalBuffer, error: unknown): void {
    for (const item of buffer.items) this.#gaps.lost(item)
    buffer.fail(error)
  }

  /** An object that no commit will ever name goes the way of all deletions (L13). */
  #abandon(key: string): void {
    this.#options.metadata
      .propose({ kind: 'enqueueDeletions', items: [{ key, graceMs: this.#options.graceMs }] })
      .catch((error: unknown) => this.#options.logger.warn({ error, key }, 'an abandoned WAL object stays until the next start'))
  }

  #finished(buffer: WalBuffer, inline: boolean, startMs: number): void {
    this.#inFlight--
    this.#options.observe(inline ? 'inline' : 'object', buffer.sizeBytes, (this.#options.clock.monotonicMs() - startMs) / 1000)
    if (this.#inFlight === 0 && this.#open.items.length > 0) this.#closeBuffer()
    else this.#consider()
    if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }
}

function takeOffsets(itemsOf: readonly (readonly Item[])[], result: CommitWalResult): CommittedBatch[] {
  const committed: CommittedBatch[] = []
  itemsOf.forEach((items, p) => {
    const part = result.parts[p]
    items.forEach((item, i) => {
      const baseOffset = part.baseOffsets[i]
      item.request.answers[item.index] = {
        error: part.errors[i],
        baseOffset,
        appendTimeMs: part.appendTimesMs[i],
        logStartOffset: part.logStartOffset,
      }
      if (part.errors[i] === 0 && !part.duplicates[i]) committed.push({ item, baseOffset })
    })
  })
  return committed
}

const refusal = (error: number): AppendedBatch => ({ error, baseOffset: -1, appendTimeMs: -1, logStartOffset: -1 })
