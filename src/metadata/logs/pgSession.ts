import { Client } from 'pg'
import { FrazilError } from '../../base/errors.ts'
import type { PgSpec } from './pgSpec.ts'

const CONNECT_MS = 5000
const QUERY_MS = 30_000

export interface Answer {
  readonly rowCount: number
  readonly rows: readonly Readonly<Record<string, unknown>>[]
}

export interface PgSessionOptions {
  readonly spec: PgSpec
  /** False: a server that does not sync is taken, for comparisons (--fsync). */
  readonly fsync: boolean
}

/**
 * One connection, made when it is needed and again after it broke. Each is checked before it is used: a standby, and a server that
 * acknowledges before it is durable, are refused (L9).
 *
 * Errors: LOG_UNAVAILABLE (the connection broke, or the server cannot now; of a write the outcome is unknown), STORE_FULL,
 * REFUSED (with what to do), CLOSED.
 */
export class PgSession {
  readonly #options: PgSessionOptions
  readonly #onNotice: ((payload: string) => void) | undefined
  #client: Promise<Client> | null = null
  #turn: Promise<unknown> = Promise.resolve()
  #closed = false

  /** `onNotice` gets the payloads of what this session listens to. */
  constructor(options: PgSessionOptions, onNotice?: (payload: string) => void) {
    this.#options = options
    this.#onNotice = onNotice
  }

  /** One after the other, in the order of the calls. */
  query(text: string, values: readonly unknown[] = []): Promise<Answer> {
    const answer = this.#turn.then(() => this.#query(text, values))
    this.#turn = answer.catch(() => undefined) // the caller has the error
    return answer
  }

  async #query(text: string, values: readonly unknown[]): Promise<Answer> {
    if (this.#closed) throw new FrazilError('CLOSED', 'the metadata log is closed')
    const connecting = (this.#client ??= this.#connect())
    let client
    try {
      client = await connecting
    } catch (error) {
      if (this.#client === connecting) this.#client = null
      throw error
    }
    try {
      const { rowCount, rows } = await client.query(text, values as unknown[])
      return { rowCount: rowCount ?? 0, rows }
    } catch (error) {
      const failure = translate(error, this.#options.spec)
      if (failure.code === 'LOG_UNAVAILABLE') this.#drop(connecting, client)
      throw failure
    }
  }

  /** Resolves once the connection of now is gone. */
  async lost(): Promise<void> {
    const client = await this.#client
    if (client !== null) await new Promise<void>((resolve) => client.once('end', resolve))
  }

  async close(): Promise<void> {
    this.#closed = true
    const client = await this.#client?.catch(() => null)
    this.#client = null
    await client?.end().catch(() => undefined) // it is going anyway
  }

  async #connect(): Promise<Client> {
    const { spec } = this.#options
    const client = new Client({
      connectionString: spec.url,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: QUERY_MS,
      keepAlive: true,
      application_name: 'frazil',
    })
    // Without a listener a connection that breaks while idle would end the process.
    client.on('error', () => this.#drop(null, client))
    if (this.#onNotice !== undefined) client.on('notification', ({ payload }) => this.#onNotice!(payload ?? ''))
    try {
      await client.connect()
      await this.#checkServer(client)
    } catch (error) {
      client.end().catch(() => undefined) // what was not opened needs no closing
      throw error instanceof FrazilError ? error : translate(error, spec)
    }
    return client
  }

  async #checkServer(client: Client): Promise<void> {
    const { spec, fsync } = this.#options
    const { rows } = await client.query(
      "SELECT pg_is_in_recovery() AS standby, current_setting('synchronous_commit') AS commit, current_setting('fsync') AS fsync",
    )
    const [server] = rows as { readonly standby: boolean; readonly commit: string; readonly fsync: string }[]
    if (server.standby) throw new FrazilError('LOG_UNAVAILABLE', `the PostgreSQL server of ${spec.shown} is a standby: name the primary`)
    if (!fsync) return
    if (server.commit === 'off') {
      throw new FrazilError(
        'REFUSED',
        `PostgreSQL at ${spec.shown} has synchronous_commit off and would lose acknowledged records: set it to on for this user or database`,
      )
    }
    if (server.fsync === 'off') {
      throw new FrazilError('REFUSED', `PostgreSQL at ${spec.shown} runs with fsync off and would lose acknowledged records: set it to on`)
    }
  }

  #drop(connecting: Promise<Client> | null, client: Client): void {
    if (connecting === null || this.#client === connecting) this.#client = null
    client.end().catch(() => undefined) // it is broken
  }
}

/** What an error of the driver or the server means. Class 08: connection; 53: resources; 57P: the server stops or starts. */
function translate(error: unknown, spec: PgSpec): FrazilError {
  const { code = '', message } = error as { readonly code?: string; readonly message: string }
  const say = (kind: FrazilError['code'], why: string): FrazilError => new FrazilError(kind, `PostgreSQL at ${spec.shown}: ${why}`, error)
  if (code === '53100') return say('STORE_FULL', 'its disk is full')
  if (code === '28P01' || code === '28000') return say('REFUSED', `it does not let this user in (${message}): check user and password`)
  if (code === '3D000') return say('REFUSED', `there is no such database (${message}): create it, Frazil makes only its schema`)
  if (code === '42501') return say('REFUSED', `${message}: grant this user what it needs in schema ${spec.schema}`)
  return say('LOG_UNAVAILABLE', message)
}
