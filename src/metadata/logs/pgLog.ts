import type { Clock } from '../../base/clock.ts'
import { FrazilError, hasCode } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { EntryLog, RawEntry } from '../entryLog.ts'
import { preparePg } from './pgSchema.ts'
import { PgSession } from './pgSession.ts'
import type { PgSpec } from './pgSpec.ts'

export interface PgLogOptions {
  readonly spec: PgSpec
  readonly clock: Clock
  readonly logger: Logger
  readonly fsync?: boolean
  /** How often a statement is tried; 8 by default. */
  readonly tries?: number
}

const CHUNK_ENTRIES = 1000
const CHUNK_BYTES = 4 << 20
const BACKOFF_MS = 10
const BACKOFF_MAX_MS = 1000
const LISTEN_RETRY_MAX_MS = 10_000

/**
 * The log in PostgreSQL: an append is one statement that moves the head row from N−1 to N and inserts entry N, or does neither. That row
 * N is free proves nothing, the head decides (L4). An answer that was lost, as in a failover, is resolved by reading back equal bytes.
 * Other writers are heard of through LISTEN.
 */
export class PgLog implements EntryLog {
  readonly attachmentMaxBytes = 0
  readonly shared = true
  readonly retentionMs = 0
  readonly #spec: PgSpec
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #fsync: boolean
  readonly #tries: number
  /** Appends have a connection of their own: they do not wait behind a long read. */
  readonly #writer: PgSession
  readonly #reader: PgSession
  readonly #abort = new AbortController()
  #sizeBytes = 0
  #end = 0
  #state: 'new' | 'open' | 'closed' = 'new'

  constructor({ spec, clock, logger, fsync = true, tries = 8 }: PgLogOptions) {
    this.#spec = spec
    this.#clock = clock
    this.#logger = logger
    this.#fsync = fsync
    this.#tries = tries
    this.#writer = new PgSession({ spec, fsync })
    this.#reader = new PgSession({ spec, fsync })
  }

  async open(): Promise<void> {
    if (this.#state !== 'new') throw new FrazilError('REFUSED', 'the metadata log was opened before')
    await this.#retry(() => preparePg(this.#writer, this.#spec))
    this.#state = 'open'
    this.#end = (await this.#head()).last
    await this.#measure()
  }

  async floor(): Promise<number> {
    return (await this.#head()).floor
  }

  async snapshots(): Promise<readonly number[]> {
    const { rows } = await this.#read('SELECT last_entry FROM snapshots ORDER BY last_entry DESC')
    return rows.map((row) => Number(row['last_entry']))
  }

  async readSnapshot(lastEntry: number): Promise<Buffer> {
    const { rows } = await this.#read('SELECT bytes FROM snapshots WHERE last_entry = $1', [lastEntry])
    if (rows.length === 0) throw new FrazilError('STORE_NOT_FOUND', `there is no metadata snapshot ${lastEntry}`)
    return rows[0]['bytes'] as Buffer
  }

  async writeSnapshot(lastEntry: number, bytes: Uint8Array): Promise<void> {
    if (lastEntry > this.#end && lastEntry > (await this.end())) throw ahead('a snapshot of entry', lastEntry, this.#end)
    await this.#read('INSERT INTO snapshots VALUES ($1, $2) ON CONFLICT (last_entry) DO UPDATE SET bytes = excluded.bytes', [
      lastEntry,
      buffer(bytes),
    ])
  }

  async *read(from: number): AsyncGenerator<RawEntry> {
    let coming = this.#chunk(from)
    for (let next = from; ;) {
      const { last, floor, entries } = await coming
      if (next < floor) throw new FrazilError('STORE_NOT_FOUND', `entry ${next} is not in the metadata log any more`)
      const wanted = next + entries.length
      if (entries.some(({ number }, i) => number !== next + i) || (entries.length === 0 && next <= last)) {
        throw new FrazilError(
          'LOG_CORRUPT',
          `a row is missing from entry ${next} on in table entries of ${this.#spec.shown}: somebody removed it; restore it from a backup`,
        )
      }
      this.#end = Math.max(this.#end, last)
      if (wanted <= last) {
        coming = this.#chunk(wanted)
        coming.catch(() => undefined) // thrown when its turn comes, or nobody waits for it any more
      }
      for (const { number, bytes } of entries) {
        yield { number, bytes, attachmentBytes: 0 }
        this.#check()
      }
      next = wanted
      if (next > last) return
    }
  }

  /** Head and entries of one moment. */
  async #chunk(from: number): Promise<{ last: number; floor: number; entries: { number: number; bytes: Buffer }[] }> {
    const { rows } = await this.#read(
      `SELECT h.last_entry, h.floor, e.number, e.bytes FROM head h LEFT JOIN (
         SELECT number, bytes FROM (
           SELECT number, bytes, sum(octet_length(bytes)) OVER (ORDER BY number) - octet_length(bytes) AS before
           FROM entries WHERE number >= $1 ORDER BY number LIMIT ${CHUNK_ENTRIES}
         ) wide WHERE before < ${CHUNK_BYTES}
       ) e ON true ORDER BY e.number`,
      [from],
    )
    const entries = rows
      .filter((row) => row['number'] !== null)
      .map((row) => ({ number: Number(row['number']), bytes: row['bytes'] as Buffer }))
    return { last: this.#known(Number(rows[0]['last_entry'])), floor: Number(rows[0]['floor']), entries }
  }

  append(number: number, bytes: Uint8Array, attachment: readonly Uint8Array[] = []): Promise<'written' | 'conflict'> {
    if (attachment.some((part) => part.length > 0))
      return Promise.reject(new FrazilError('LIMIT', 'this metadata log takes no attachments'))
    return this.#retry(async () => {
      this.#check()
      const { rowCount } = await this.#writer.query(
        this.#named(
          `WITH moved AS (UPDATE head SET last_entry = $1 WHERE last_entry = $1::bigint - 1 RETURNING last_entry)
           INSERT INTO entries SELECT last_entry, $2::bytea FROM moved RETURNING pg_notify($3::text, number::text)`,
        ),
        [number, buffer(bytes), this.#channel],
      )
      if (rowCount === 1) {
        this.#end = Math.max(this.#end, number)
        this.#sizeBytes += bytes.length
        return 'written'
      }
      const { last, entries } = await this.#chunk(number)
      if (number > last + 1) throw ahead('entry', number, last)
      // Not there and not behind the head: it is below the floor, or came to be the next meanwhile.
      if (number > last) throw new FrazilError('LOG_UNAVAILABLE', 'another writer is at the head of the metadata log')
      return entries[0]?.number === number && entries[0].bytes.equals(bytes) ? 'written' : 'conflict'
    })
  }

  async end(): Promise<number> {
    return (this.#end = Math.max(this.#end, (await this.#head()).last))
  }

  readAttachment(number: number): Promise<Buffer> {
    return Promise.reject(
      new FrazilError('STORE_NOT_FOUND', `entry ${number} has nothing attached: this metadata log takes no attachments`),
    )
  }

  async truncate(floor: number): Promise<void> {
    const { last } = await this.#head()
    if (floor > last + 1) throw ahead('a floor of', floor, last)
    // Durable before anything goes.
    await this.#read('UPDATE head SET floor = $1 WHERE floor < $1', [floor])
    await this.#read('DELETE FROM entries WHERE number < (SELECT floor FROM head)')
    await this.#read(
      'DELETE FROM snapshots WHERE last_entry < (SELECT min(last_entry) FROM (SELECT last_entry FROM snapshots ORDER BY 1 DESC LIMIT 2) kept)',
    )
    await this.#measure()
  }

  /** Hears of what others append; after the connection broke it calls once, since something may have been missed. */
  watch(listener: () => void): () => void {
    const ended = new AbortController()
    const session = new PgSession({ spec: this.#spec, fsync: this.#fsync }, (payload) => {
      if (Number(payload) > this.#end) listener()
    })
    const signal = AbortSignal.any([ended.signal, this.#abort.signal])
    signal.addEventListener('abort', () => void session.close())
    void this.#listen(session, listener, signal)
    return () => ended.abort()
  }

  async #listen(session: PgSession, listener: () => void, signal: AbortSignal): Promise<void> {
    for (let waitMs = BACKOFF_MS; !signal.aborted; waitMs = Math.min(waitMs * 2, LISTEN_RETRY_MAX_MS)) {
      try {
        await session.query(`LISTEN ${this.#channel}`)
        listener()
        await session.lost()
        waitMs = BACKOFF_MS
      } catch (error) {
        if (!signal.aborted) this.#logger.debug({ reason: String(error) }, 'the metadata log cannot be listened to: trying again')
      }
      await this.#clock.sleep(waitMs, signal)
    }
  }

  sizeBytes(): number {
    return this.#sizeBytes
  }

  async close(): Promise<void> {
    this.#state = 'closed'
    this.#abort.abort()
    await Promise.all([this.#writer.close(), this.#reader.close()])
  }

  async #head(): Promise<{ last: number; floor: number }> {
    const { rows } = await this.#read('SELECT last_entry, floor FROM head')
    return { last: this.#known(Number(rows[0]['last_entry'])), floor: Number(rows[0]['floor']) }
  }

  /** The head never goes back, unless the server lost what it had acknowledged. */
  #known(last: number): number {
    if (last >= this.#end) return last
    throw new FrazilError(
      'LOG_CORRUPT',
      `the metadata log in ${this.#spec.shown} ends at entry ${last}, but entry ${this.#end} was written: the database lost acknowledged ` +
        'commits (a failover to an asynchronous standby, or an older backup); do not go on, bring back the server that has them',
    )
  }

  async #measure(): Promise<void> {
    const { rows } = await this.#read('SELECT coalesce(sum(octet_length(bytes)), 0) AS bytes FROM entries')
    this.#sizeBytes = Number(rows[0]['bytes'])
  }

  get #channel(): string {
    return `frazil_${this.#spec.schema}`
  }

  /** Puts the schema before the table names. */
  #named(text: string): string {
    return text.replace(/\b(FROM|JOIN|INTO|UPDATE) (head|entries|snapshots)\b/g, `$1 ${this.#spec.schema}.$2`)
  }

  #read(text: string, values: readonly unknown[] = []): ReturnType<PgSession['query']> {
    return this.#retry(() => {
      this.#check()
      return this.#reader.query(this.#named(text), values)
    })
  }

  /** Tries again what may pass: all statements of this log can be repeated. */
  async #retry<T>(task: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await task()
      } catch (error) {
        if (!hasCode(error, 'LOG_UNAVAILABLE') || attempt >= this.#tries) throw error
        await this.#clock.sleep(Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MAX_MS), this.#abort.signal)
      }
    }
  }

  #check(): void {
    if (this.#state !== 'open') throw new FrazilError('CLOSED', 'the metadata log is not open')
  }
}

/** As the driver takes it, without a copy. */
function buffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function ahead(what: string, number: number, last: number): FrazilError {
  return new FrazilError('REFUSED', `${what} ${number} would leave a gap behind ${last}, the end of the metadata log`)
}
