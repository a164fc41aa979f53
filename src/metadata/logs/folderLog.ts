import path from 'node:path'
import { FrazilError } from '../../base/errors.ts'
import { systemClock, type Clock } from '../../base/clock.ts'
import { silentLogger, type Logger } from '../../base/log.ts'
import { storeFailure } from '../../storage/failures.ts'
import { bodyBuffers, systemFiles, type Files } from '../../storage/files.ts'
import type { FolderStore } from '../../storage/folder.ts'
import { lockFolder, type FolderLock } from '../../storage/lock.ts'
import type { EntryLog, RawEntry } from '../entryLog.ts'
import { Appender } from './appender.ts'
import { HEADER_BYTES } from './frame.ts'
import { Marks } from './marks.ts'
import { loadSegments } from './recover.ts'
import { readEntries } from './readAhead.ts'
import { attachmentRange, type Segment } from './segment.ts'
import { SegmentFiles } from './segmentFiles.ts'

export interface FolderLogOptions {
  /** Opened; holds floor and snapshots, and says whether to fsync. */
  readonly store: FolderStore
  /** Named in the sentence that refuses a second process. */
  readonly podName: string
  /** How long to wait for a process that still holds the folder; 5000 by default. */
  readonly lockWaitMs?: number
  /** A file that reached this size is followed by a new one; 16 MiB by default. */
  readonly segmentBytes?: number
  /** Make the next file ahead, full of zeros; true by default. */
  readonly makeAhead?: boolean
  /** 1 MiB by default. */
  readonly attachmentMaxBytes?: number
  readonly clock?: Clock
  readonly logger?: Logger
  readonly files?: Files
}

const ENTRY_MAX_BYTES = 256 << 20
/** Size of a file made ahead: small records fill it in some hundred appends, and it is space that holds nothing yet. */
const AHEAD_BYTES = 2 << 20
/** A file with less than this is not worth ending at a snapshot. */
const ROLL_BYTES = 256 << 10

/**
 * The log of a pod that owns its folder: entries in files `meta/log/<first entry>.log`, one write and one sync an append.
 * Format, and how a write that was cut short is told from damage, are in docs/FORMATS.md, "Folder log".
 */
export class FolderLog implements EntryLog {
  readonly attachmentMaxBytes: number
  readonly shared = false
  readonly retentionMs = 0
  readonly #store: FolderStore
  readonly #podName: string
  readonly #lockWaitMs: number | undefined
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #files: Files
  readonly #marks: Marks
  readonly #segmentFiles: SegmentFiles
  readonly #appender: Appender
  readonly #segments: Segment[] = []
  #lock: FolderLock | null = null
  #floor = 1
  #end = 0
  #appending: Promise<unknown> = Promise.resolve()
  #truncating: Promise<unknown> = Promise.resolve()
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor(options: FolderLogOptions) {
    this.attachmentMaxBytes = options.attachmentMaxBytes ?? 1 << 20
    this.#store = options.store
    this.#podName = options.podName
    this.#lockWaitMs = options.lockWaitMs
    const segmentBytes = options.segmentBytes ?? 16 << 20
    this.#clock = options.clock ?? systemClock
    this.#logger = options.logger ?? silentLogger
    this.#files = options.files ?? systemFiles
    this.#marks = new Marks(options.store, 'meta/')
    this.#segmentFiles = new SegmentFiles({
      folder: path.join(options.store.root, 'meta', 'log'),
      files: this.#files,
      fsync: options.store.fsync,
      // without fsync an append waits for no disk, and there is nothing to gain
      readyBytes: options.makeAhead === false || !options.store.fsync ? 0 : Math.min(segmentBytes, AHEAD_BYTES),
      logger: this.#logger,
    })
    this.#appender = new Appender({
      files: this.#files,
      segmentFiles: this.#segmentFiles,
      segments: this.#segments,
      fsync: options.store.fsync,
      segmentBytes,
      logger: this.#logger,
    })
  }

  async open(): Promise<void> {
    if (this.#state !== 'new') throw new FrazilError('REFUSED', 'the metadata log was opened before')
    this.#lock = await lockFolder(this.#store.root, this.#podName, { waitMs: this.#lockWaitMs, clock: this.#clock })
    try {
      this.#floor = await this.#marks.floor()
      const { segments, end, wipe } = await loadSegments(this.#files, this.#segmentFiles, this.#floor)
      this.#segments.push(...segments)
      this.#end = end
      const newest = (await this.#marks.snapshots())[0] ?? 0
      if (end < newest || end < this.#floor - 1) {
        const known = Math.max(newest, this.#floor - 1)
        throw new FrazilError('LOG_CORRUPT', `the metadata log ends at entry ${end}, but entry ${known} was written: log files are missing`)
      }
      if (wipe) this.#logger.info({ end }, 'removed the rest of an entry that was being written when the process ended')
      await this.#appender.adopt(wipe)
      if (this.#isClosed()) throw new FrazilError('CLOSED', 'the metadata log was closed while it opened')
    } catch (error) {
      await this.#release()
      throw storeFailure(error, 'cannot open the metadata log', 'write')
    }
    this.#state = 'open'
  }

  async floor(): Promise<number> {
    return this.#floor
  }

  async snapshots(): Promise<readonly number[]> {
    return this.#marks.snapshots()
  }

  async readSnapshot(lastEntry: number): Promise<Buffer> {
    return this.#marks.readSnapshot(lastEntry)
  }

  async writeSnapshot(lastEntry: number, bytes: Uint8Array): Promise<void> {
    this.#check()
    if (lastEntry > this.#end)
      throw new FrazilError('REFUSED', `a snapshot of entry ${lastEntry} is ahead of the log, which ends at ${this.#end}`)
    await this.#marks.writeSnapshot(lastEntry, bytes)
    // truncation takes whole files: one that ends where a snapshot does can go as soon as the next snapshot is there
    this.#appender.beginSoon(ROLL_BYTES)
  }

  async *read(from: number): AsyncGenerator<RawEntry> {
    this.#check()
    const find = (number: number): Segment => {
      this.#check()
      return this.#find(number)
    }
    yield* readEntries({ from, end: () => this.#end, find })
  }

  /** The segment that holds an entry. Errors: STORE_NOT_FOUND. */
  #find(number: number): Segment {
    let low = 0
    let high = this.#segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#segments[middle].firstEntry <= number) low = middle
      else high = middle - 1
    }
    const segment = this.#segments[low]
    if (segment === undefined || number < this.#floor || number < segment.firstEntry || number > segment.lastEntry) {
      throw new FrazilError('STORE_NOT_FOUND', `entry ${number} is not in the metadata log, which holds ${this.#floor} to ${this.#end}`)
    }
    return segment
  }

  append(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[] = []): Promise<'written' | 'conflict'> {
    const result = this.#appending.then(() => this.#append(number, bytes, attachment))
    this.#appending = result.catch(() => undefined) // the caller has the error; the next append starts afresh
    return result
  }

  async #append(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[]): Promise<'written' | 'conflict'> {
    this.#check()
    const { buffers, sizeBytes: attachmentBytes } = bodyBuffers(attachment)
    if (attachmentBytes > this.attachmentMaxBytes || bytes.length > ENTRY_MAX_BYTES) {
      throw new FrazilError('LIMIT', `an entry of ${bytes.length} bytes with ${attachmentBytes} attached is too big for the metadata log`)
    }
    if (number <= this.#end) return (await this.#holds(number, bytes, buffers)) ? 'written' : 'conflict'
    if (number !== this.#end + 1) throw new FrazilError('REFUSED', `entry ${number} would leave a gap behind ${this.#end}`)
    await this.#appender.write(number, bytes, buffers, attachmentBytes)
    this.#end = number
    return 'written'
  }

  /** True when the entry is there with equal bytes and attachment: it is ours, and the answer was lost. */
  async #holds(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[]): Promise<boolean> {
    if (number < this.#floor) return false
    const segment = this.#find(number)
    const { position, entryBytes, attachmentBytes } = segment.place(number)
    const stored = await segment.read(position + HEADER_BYTES, position + HEADER_BYTES + entryBytes + attachmentBytes)
    const wanted = [bytes, ...attachment]
    return (
      wanted.reduce((sum, part) => sum + part.length, 0) === stored.length &&
      bytes.length === entryBytes &&
      stored.equals(Buffer.concat(wanted))
    )
  }

  async end(): Promise<number> {
    this.#check()
    return this.#end
  }

  async readAttachment(number: number, start: number, end: number): Promise<Buffer> {
    this.#check()
    const segment = this.#find(number)
    const place = segment.place(number)
    if (!(start >= 0 && start <= end && end <= place.attachmentBytes)) {
      throw new FrazilError('REFUSED', `entry ${number} has no attached bytes ${start} to ${end}`)
    }
    const range = attachmentRange(place, start, end)
    return segment.read(range.start, range.end)
  }

  truncate(floor: number): Promise<void> {
    const result = this.#truncating.then(() => this.#truncate(floor))
    this.#truncating = result.catch(() => undefined) // the caller has the error
    return result
  }

  async #truncate(floor: number): Promise<void> {
    this.#check()
    if (floor > this.#end + 1) throw new FrazilError('REFUSED', `a floor of ${floor} is ahead of the log, which ends at ${this.#end}`)
    if (floor > this.#floor) {
      await this.#marks.raiseFloor(floor)
      this.#floor = floor
    }
    while (this.#segments.length > 1 && this.#segments[1].firstEntry <= this.#floor) {
      const segment = this.#segments.shift()!
      await this.#segmentFiles.remove(segment.path)
      await segment.retire()
    }
    await this.#marks.dropOldSnapshots()
  }

  watch(): () => void {
    return () => {}
  }

  sizeBytes(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.usedBytes, 0)
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return
    const wasOpen = this.#state === 'open'
    this.#state = 'closed'
    if (!wasOpen) return
    await Promise.all([this.#appending, this.#truncating])
    await this.#appender.idle()
    await this.#segmentFiles.close()
    await this.#release()
  }

  async #release(): Promise<void> {
    await Promise.all(this.#segments.splice(0).map((segment) => segment.retire()))
    this.#lock?.release()
  }

  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  #check(): void {
    if (this.#state !== 'open') throw new FrazilError('CLOSED', 'the metadata log is not open')
  }
}
