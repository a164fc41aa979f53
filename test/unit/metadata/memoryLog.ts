import { FrazilError } from '../../../src/base/errors.ts'
import type { EntryLog, RawEntry } from '../../../src/metadata/entryLog.ts'

/** What the disk would keep: shared by the logs that are opened over it one after the other, or by two writers at once. */
export class MemoryDisk {
  readonly entries = new Map<number, { bytes: Buffer; attachment: Buffer }>()
  readonly snapshots = new Map<number, Buffer>()
  floor = 1
}

/** An EntryLog in memory, with faults: `beforeAppend` and `afterAppend` may throw, `endCalls` counts barriers. */
export class MemoryLog implements EntryLog {
  readonly disk: MemoryDisk
  attachmentMaxBytes = 1 << 20
  shared = false
  retentionMs = 0
  endCalls = 0
  appendedBytes: Uint8Array[] = []
  beforeAppend: (number: number) => Promise<void> | void = () => {}
  afterAppend: (number: number) => Promise<void> | void = () => {}
  beforeRead: () => void = () => {}

  constructor(disk = new MemoryDisk()) {
    this.disk = disk
  }

  open(): Promise<void> {
    return Promise.resolve()
  }
  floor(): Promise<number> {
    return Promise.resolve(this.disk.floor)
  }
  snapshots(): Promise<readonly number[]> {
    return Promise.resolve([...this.disk.snapshots.keys()].sort((a, b) => b - a))
  }
  readSnapshot(lastEntry: number): Promise<Buffer> {
    return Promise.resolve(Buffer.from(this.disk.snapshots.get(lastEntry)!))
  }
  writeSnapshot(lastEntry: number, bytes: Uint8Array): Promise<void> {
    this.disk.snapshots.set(lastEntry, Buffer.from(bytes))
    return Promise.resolve()
  }

  async *read(from: number): AsyncIterable<RawEntry> {
    this.beforeRead()
    for (let number = from; this.disk.entries.has(number); number++) {
      const { bytes, attachment } = this.disk.entries.get(number)!
      yield { number, bytes: Buffer.from(bytes), attachmentBytes: attachment.length }
      await Promise.resolve()
    }
  }

  async append(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[] = []): Promise<'written' | 'conflict'> {
    await this.beforeAppend(number)
    if (number < this.disk.floor) throw new FrazilError('LOG_CORRUPT', `entry ${number} is below the floor`)
    const there = this.disk.entries.get(number)
    if (there !== undefined && Buffer.compare(there.bytes, bytes) !== 0) return 'conflict'
    this.disk.entries.set(number, { bytes: Buffer.from(bytes), attachment: Buffer.concat(attachment) })
    this.appendedBytes.push(bytes)
    await this.afterAppend(number)
    return 'written'
  }

  end(): Promise<number> {
    this.endCalls++
    return Promise.resolve(Math.max(0, ...this.disk.entries.keys()))
  }
  readAttachment(number: number, start: number, end: number): Promise<Buffer> {
    const entry = this.disk.entries.get(number)
    if (entry === undefined) return Promise.reject(new FrazilError('STORE_NOT_FOUND', `entry ${number} is gone`))
    return Promise.resolve(Buffer.from(entry.attachment.subarray(start, end)))
  }
  truncate(floor: number): Promise<void> {
    this.disk.floor = Math.max(this.disk.floor, floor)
    for (const number of this.disk.entries.keys()) if (number < floor) this.disk.entries.delete(number)
    for (const number of [...this.disk.snapshots.keys()].sort((a, b) => b - a).slice(2)) this.disk.snapshots.delete(number)
    return Promise.resolve()
  }
  watch(): () => void {
    return () => {}
  }
  sizeBytes(): number {
    let sum = 0
    for (const { bytes, attachment } of this.disk.entries.values()) sum += bytes.length + attachment.length
    return sum
  }
  close(): Promise<void> {
    return Promise.resolve()
  }
}
