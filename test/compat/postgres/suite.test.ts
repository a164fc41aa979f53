import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/base/clock.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { PgLog } from '../../../src/metadata/logs/pgLog.ts'
import { parsePg } from '../../../src/metadata/logs/pgSpec.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { bytesOf, collect, entryLogSuite } from '../../unit/metadata/entryLogSuite.ts'
import { commit, createTopic, open, part } from '../../unit/metadata/helpers.ts'

const url = process.env['FRAZIL_PG_URL']!
const server = (...args: string[]): void =>
  void execFileSync('bash', [join(import.meta.dirname, 'server.sh'), ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
let schemas = 0
const freshSchema = (): string => `s${process.pid}_${++schemas}`
const pgLog = (schema: string, more: { tries?: number; at?: string } = {}): PgLog =>
  new PgLog({
    spec: parsePg('metadata', `${more.at ?? url}?schema=${schema}`),
    clock: systemClock,
    logger: silentLogger,
    tries: more.tries ?? 50,
  })
const opened = async (schema: string): Promise<PgLog> => {
  const log = pgLog(schema)
  await log.open()
  return log
}

let admin: Client
const connectAdmin = async (): Promise<void> => {
  admin = new Client({ connectionString: url })
  admin.on('error', () => undefined) // the server is ended on purpose
  await admin.connect()
}
beforeAll(connectAdmin)
afterAll(() => admin.end())
const endConnections = (): Promise<unknown> =>
  admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'frazil'")

entryLogSuite('log in PostgreSQL', async () => {
  const schema = freshSchema()
  return { open: () => opened(schema) }
})

describe('log in PostgreSQL: several writers', () => {
  it('each number goes to one of them, whatever connections break', async () => {
    const schema = freshSchema()
    const written: [number: number, content: string][] = []
    const logs = [await opened(schema), await opened(schema), await opened(schema)]
    const write = async (log: PgLog, id: string): Promise<void> => {
      for (let number = 1; number <= 120;) {
        const answer = await log.append(number, bytesOf(`${id} ${number}`))
        if (answer === 'written') written.push([number, `${id} ${number}`])
        number = (await log.end()) + 1
      }
      await log.close()
    }
    const stop = { now: false }
    const breaking = (async () => {
      for (let i = 0; i < 200 && !stop.now; i++) {
        await endConnections()
        await systemClock.sleep(150)
      }
    })()
    await Promise.all(logs.map((log, i) => write(log, `writer ${i}`)))
    stop.now = true
    await breaking
    const log = await opened(schema)
    const history = await collect(log, 1)
    expect(history.map(({ number }) => number)).toEqual(history.map((_, i) => i + 1))
    expect(new Set(written.map(([number]) => number)).size).toBe(written.length)
    for (const [number, content] of written) expect(Buffer.from(history[number - 1].bytes).toString()).toBe(content)
    await log.close()
  })

  it('pods follow each other without polling, and go on after the server crashed in mid-commit', async () => {
    const schema = freshSchema()
    const poll = { activeMs: 1e8, idleMs: 1e8, streamMs: 1e8 }
    const engines: MetadataEngine[] = []
    for (const pod of ['a', 'b']) engines.push(await open(pgLog(schema), { pod, poll, clock: systemClock }))
    const [a, b] = engines
    const topic = await createTopic(a, 'orders')
    for (let i = 0; i < 500 && b.state.topicByName('orders') === null; i++) await systemClock.sleep(10)
    expect(b.state.topicByName('orders')).not.toBe(null)
    const crash = { past: false }
    const work = async (engine: MetadataEngine): Promise<number[]> => {
      const offsets: number[] = []
      for (let i = 0; i < 60 || (!crash.past && i < 5000); i++)
        offsets.push((await commit(engine, part(topic, 0, 0, {}))).parts[0].baseOffsets[0])
      return offsets
    }
    const running = Promise.all(engines.map(work))
    await systemClock.sleep(100)
    server('stop', process.env['FRAZIL_PG_FOLDER']!, 'immediate')
    server('start', process.env['FRAZIL_PG_PORT']!, process.env['FRAZIL_PG_FOLDER']!)
    crash.past = true
    const all = (await running).flat()
    expect(all.sort((x, y) => x - y)).toEqual(all.map((_, i) => i))
    for (const engine of engines) await engine.barrier()
    expect(hashRooms(a.state.rooms).equals(hashRooms(b.state.rooms))).toBe(true)
    for (const engine of engines) await engine.close()
    await connectAdmin()
  })

  it('several clusters in one database do not meet', async () => {
    const [one, two] = [freshSchema(), freshSchema()]
    const [a, b] = [await opened(one), await opened(two)]
    await a.append(1, bytesOf('a'))
    expect(await b.end()).toBe(0)
    expect(await b.append(1, bytesOf('b'))).toBe('written')
    expect(Buffer.from((await collect(await opened(one), 1))[0].bytes).toString()).toBe('a')
    await Promise.all([a.close(), b.close()])
  })

  it('pods that start at once make the tables once', async () => {
    const schema = freshSchema()
    const logs = await Promise.all(Array.from({ length: 6 }, () => opened(schema)))
    expect(await Promise.all(logs.map((log) => log.end()))).toEqual([0, 0, 0, 0, 0, 0])
    await Promise.all(logs.map((log) => log.close()))
  })
})

describe('log in PostgreSQL: what is refused', () => {
  it('a server that acknowledges before it is durable (L9)', async () => {
    await admin.query(
      "CREATE ROLE hasty LOGIN; ALTER ROLE hasty SET synchronous_commit = 'off'; GRANT CREATE ON DATABASE postgres TO hasty",
    )
    const log = pgLog(freshSchema(), { at: url.replace('frazil@', 'hasty@') })
    await expect(log.open()).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('synchronous_commit') })
    await log.close()
  })

  it('a user without rights, an unknown user or database, a server that is not there: one sentence without the password', async () => {
    await admin.query('CREATE ROLE poor LOGIN')
    const failure = async (at: string): Promise<string> => {
      const log = pgLog(freshSchema(), { at, tries: 2 })
      const error = await log.open().then(
        () => null,
        (reason: Error) => reason,
      )
      await log.close()
      expect(error).toMatchObject({ name: 'FrazilError' })
      expect(error!.message).not.toMatch(/secret|\n/)
      return error!.message
    }
    expect(await failure(url.replace('frazil@', 'poor:secret@'))).toMatch(/grant this user/)
    expect(await failure(url.replace('frazil@', 'nobody:secret@'))).toMatch(/check user and password/)
    expect(await failure(url.replace(/postgres$/, 'nowhere'))).toMatch(/no such database/)
    expect(await failure('postgres://frazil:secret@127.0.0.1:1/postgres')).toMatch(/ECONNREFUSED/)
  })

  it('tables of a newer version, and a table that is not ours', async () => {
    const newer = freshSchema()
    await (await opened(newer)).close()
    await admin.query(`UPDATE ${newer}.head SET format = 2`)
    await expect(pgLog(newer).open()).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('newer version') })
    const foreign = freshSchema()
    await admin.query(`CREATE SCHEMA ${foreign}; CREATE TABLE ${foreign}.head (format text)`)
    await expect(pgLog(foreign).open()).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('another schema') })
  })

  it('a row that somebody deleted, and commits that the server lost: the pod stops', async () => {
    const schema = freshSchema()
    const log = await opened(schema)
    for (let number = 1; number <= 6; number++) await log.append(number, bytesOf(String(number)))
    await admin.query(`DELETE FROM ${schema}.entries WHERE number = 4`)
    await expect(collect(log, 2)).rejects.toMatchObject({ code: 'LOG_CORRUPT', message: expect.stringContaining('missing') })
    await admin.query(`UPDATE ${schema}.head SET last_entry = 3; DELETE FROM ${schema}.entries WHERE number > 3`)
    await expect(log.append(7, bytesOf('7'))).rejects.toMatchObject({
      code: 'LOG_CORRUPT',
      message: expect.stringContaining('lost acknowledged'),
    })
    await expect(log.end()).rejects.toMatchObject({ code: 'LOG_CORRUPT' })
    await log.close()
  })
})
