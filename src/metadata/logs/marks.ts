import { crc32c } from '@node-rs/crc32'
import { FrazilError, hasCode } from '../../base/errors.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { digits } from './segment.ts'

const SNAPSHOT_MAGIC = Buffer.from('FRAZSNP1', 'latin1')
const SNAPSHOT_HEAD_BYTES = 16
const SNAPSHOTS_KEPT = 2

/** Floor and snapshots of a log, as objects under `prefix` of a store; both logs keep them so. */
export class Marks {
  readonly #store: ObjectStore
  readonly #prefix: string

  constructor(store: ObjectStore, prefix: string) {
    this.#store = store
    this.#prefix = prefix
  }

  /** 1 until it was raised. Errors: LOG_CORRUPT. */
  async floor(): Promise<number> {
    let text: string
    try {
      text = (await this.#store.get(`${this.#prefix}floor`, { reason: 'metadata' })).body.toString('latin1')
    } catch (error) {
      if (hasCode(error, 'STORE_NOT_FOUND')) return 1
      throw error
    }
    const match = /^(\d{20})\n$/.exec(text)
    if (match === null) throw new FrazilError('LOG_CORRUPT', `the floor of the metadata log (${this.#prefix}floor) is not a number`)
    return Number(match[1])
  }

  /** Raises the floor, durably; never lowers it (L4). May be repeated after STORE_UNKNOWN. */
  async raiseFloor(floor: number): Promise<void> {
    const key = `${this.#prefix}floor`
    const bytes = Buffer.from(`${digits(floor)}\n`, 'latin1')
    for (;;) {
      const head = await this.#store.head(key, { reason: 'metadata' })
      // An equal one is written again: an earlier try may have failed before it was durable.
      if (head !== null && (await this.floor()) > floor) return
      const written =
        head === null
          ? await this.#store.putIfAbsent(key, bytes, { reason: 'metadata' })
          : await this.#store.putIfMatch(key, bytes, head.etag, { reason: 'metadata' })
      if (written !== null) return
    }
  }

  /** Newest first. */
  async snapshots(): Promise<readonly number[]> {
    const numbers: number[] = []
    const prefix = `${this.#prefix}snapshots/`
    for await (const { key } of this.#store.list(prefix, { reason: 'metadata' })) {
      const match = /^(\d{20})\.snap$/.exec(key.slice(prefix.length))
      if (match !== null) numbers.push(Number(match[1]))
    }
    return numbers.toReversed()
  }

  /** Errors: STORE_NOT_FOUND, CORRUPT. */
  async readSnapshot(lastEntry: number): Promise<Buffer> {
    const { body } = await this.#store.get(this.#snapshotKey(lastEntry), { reason: 'metadata' })
    const content = body.subarray(SNAPSHOT_HEAD_BYTES)
    const good =
      body.length >= SNAPSHOT_HEAD_BYTES && body.subarray(0, 8).equals(SNAPSHOT_MAGIC) && body.readUInt32BE(8) === crc32c(content)
    if (!good) throw new FrazilError('CORRUPT', `the snapshot ${this.#snapshotKey(lastEntry)} is damaged`)
    return content
  }

  async writeSnapshot(lastEntry: number, bytes: Uint8Array): Promise<void> {
    const head = Buffer.alloc(SNAPSHOT_HEAD_BYTES)
    SNAPSHOT_MAGIC.copy(head)
    head.writeUInt32BE(crc32c(bytes), 8)
    await this.#store.put(this.#snapshotKey(lastEntry), [head, bytes], { reason: 'metadata' })
  }

  /** Deletes all snapshots but the two newest: a damaged newest one must be survivable. */
  async dropOldSnapshots(): Promise<void> {
    const old = (await this.snapshots()).slice(SNAPSHOTS_KEPT)
    await this.#store.delete(
      old.map((number) => this.#snapshotKey(number)),
      { reason: 'metadata' },
    )
  }

  #snapshotKey(lastEntry: number): string {
    return `${this.#prefix}snapshots/${digits(lastEntry)}.snap`
  }
}
