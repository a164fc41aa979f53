import { describe, expect, it } from 'vitest'
import type { Command, RegisterSchema } from '../../../src/metadata/commands.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { Random } from './randomCommands.ts'
import { Bench } from './rooms.ts'

function schemaBench(): Bench {
  const bench = new Bench()
  bench.apply({ kind: 'registerIncarnation', pod: 'pod-a', nonce: Buffer.alloc(16, 2), level: 2, fenceOlder: true })
  bench.apply({ kind: 'setLevel', level: 2 }, { incarnation: 2 })
  return bench
}

const own = { incarnation: 2 }
const revision = (bench: Bench, subject: string, context = '.'): number => bench.state.schemas.subject(context, subject)?.revision ?? 0

function register(bench: Bench, subject: string, guid: string, more: Partial<RegisterSchema> = {}): unknown {
  const context = more.context ?? '.'
  const command = { kind: 'registerSchema', context, subject, guid, body: Buffer.from(guid), references: [], id: 0, version: 0 } as const
  return bench.apply({ ...command, expectedRevision: revision(bench, subject, context), ...more }, own)
}

function remove(bench: Bench, subject: string, versions: number[], permanent: boolean): unknown {
  return bench.apply({ kind: 'deleteSchemas', context: '.', subject, versions, permanent, expectedRevision: revision(bench, subject) }, own)
}

const done = (id: number, version: number) => ({ kind: 'schema', outcome: 'done', id, version })

describe('schemas', () => {
  it('equal schemas have one id in a context, another context counts anew', () => {
    const bench = schemaBench()
    expect(register(bench, 'a', 'g1')).toEqual(done(1, 1))
    expect(register(bench, 'a', 'g2')).toEqual(done(2, 2))
    expect(register(bench, 'b', 'g2')).toEqual(done(2, 1))
    expect(register(bench, 'b', 'g3')).toEqual(done(3, 2))
    expect(register(bench, 'b', 'g3', { context: '.x' })).toEqual(done(1, 1))
  })

  it('are refused when the subject changed since the proposer looked', () => {
    const bench = schemaBench()
    register(bench, 'a', 'g1')
    expect(register(bench, 'a', 'g2', { expectedRevision: 0 })).toMatchObject({ outcome: 'moved' })
    remove(bench, 'a', [1], false)
    remove(bench, 'a', [1], true)
    // the subject is new again, but never with a revision that was
    const before = revision(bench, 'a')
    register(bench, 'a', 'g1')
    expect([before, revision(bench, 'a')]).toEqual([0, 4])
  })

  it('go softly, then for ever; an id goes with its last version and is not given again', () => {
    const bench = schemaBench()
    register(bench, 'a', 'g1')
    register(bench, 'a', 'g2')
    expect(remove(bench, 'a', [1], true)).toMatchObject({ outcome: 'moved' })
    expect(remove(bench, 'a', [1, 2], false)).toMatchObject({ outcome: 'done' })
    expect(bench.state.schemas.content('.', 2)).toMatchObject({ guid: 'g2', liveUses: 0 })
    expect(register(bench, 'a', 'g2')).toEqual(done(2, 3))
    expect(remove(bench, 'a', [1, 2], true)).toMatchObject({ outcome: 'done' })
    expect(bench.state.schemas.content('.', 1)).toBeNull()
    expect(bench.state.schemas.content('.', 2)).toMatchObject({ guid: 'g2', liveUses: 1 })
    expect(register(bench, 'b', 'g1')).toEqual(done(3, 1))
  })

  it('stay while a live schema refers to them, and need what they refer to', () => {
    const bench = schemaBench()
    const references = [{ context: '.', subject: 'a', version: 1 }]
    expect(register(bench, 'b', 'g2', { references })).toMatchObject({ outcome: 'referenceMissing' })
    register(bench, 'a', 'g1')
    register(bench, 'b', 'g2', { references })
    expect([...bench.state.schemas.referrers('.', 'a', 1)].map(({ id }) => id)).toEqual([2])
    expect(remove(bench, 'a', [1], false)).toMatchObject({ outcome: 'referenced' })
    remove(bench, 'b', [1], false)
    expect(remove(bench, 'a', [1], false)).toMatchObject({ outcome: 'done' })
  })

  it('are imported with id and version; an id is never given to another schema', () => {
    const bench = schemaBench()
    expect(register(bench, 'a', 'g1', { id: 100, version: 7 })).toEqual(done(100, 7))
    expect(register(bench, 'a', 'g2', { id: 100, version: 8 })).toMatchObject({ outcome: 'idTaken' })
    expect(register(bench, 'a', 'g1', { id: 101, version: 8 })).toMatchObject({ outcome: 'idTaken' })
    expect(register(bench, 'a', 'g3', { id: 5, version: 2 })).toEqual(done(5, 2))
    expect(bench.state.schemas.subject('.', 'a')!.versions.map(({ version }) => version)).toEqual([2, 7])
    expect(register(bench, 'a', 'g4')).toEqual(done(101, 8))
  })

  it('need level 2', () => {
    const bench = new Bench()
    const command: Command = { kind: 'alterSchemaSettings', context: '.', subject: '', config: '{}', mode: null }
    expect(bench.apply(command)).toMatchObject({ kind: 'refused' })
  })

  it('settings: null leaves one as it is, empty text removes it', () => {
    const bench = schemaBench()
    const set = (config: string | null, mode: string | null): unknown => {
      bench.apply({ kind: 'alterSchemaSettings', context: '.', subject: 'a', config, mode }, own)
      return bench.state.schemas.settings('.', 'a')
    }
    expect(set('{}', null)).toMatchObject({ config: '{}', mode: '' })
    expect(set(null, 'READONLY')).toMatchObject({ config: '{}', mode: 'READONLY' })
    expect(set('', null)).toMatchObject({ config: '', mode: 'READONLY' })
    expect(set(null, '')).toBeNull()
  })

  it('come back the same from snapshots, whatever was done', () => {
    const random = new Random(11)
    let other = schemaBench()
    const bench = schemaBench()
    for (let i = 0; i < 400; i++) {
      const context = random.chance(0.8) ? '.' : '.x'
      const subject = `s${random.int(4)}`
      const row = bench.state.schemas.subject(context, subject)
      const target = random.pick([...bench.state.schemas.subjects()])
      const version = random.pick([...(row?.versions ?? [])])
      const roll = random.int(10)
      const command: Command =
        roll < 5 || version === undefined
          ? {
              kind: 'registerSchema',
              context,
              subject,
              guid: `g${random.int(12)}`,
              body: Buffer.from([i & 255]),
              references:
                target !== undefined && random.chance(0.3)
                  ? [{ context: target.context, subject: target.subject, version: target.versions[0].version }]
                  : [],
              id: random.chance(0.1) ? 1 + random.int(30) : 0,
              version: random.chance(0.1) ? 1 + random.int(9) : 0,
              expectedRevision: row?.revision ?? 0,
            }
          : roll < 9
            ? {
                kind: 'deleteSchemas',
                context,
                subject,
                versions: [version.version],
                permanent: random.chance(0.5),
                expectedRevision: row!.revision,
              }
            : { kind: 'alterSchemaSettings', context, subject, config: random.chance(0.5) ? '' : '{}', mode: null }
      bench.apply(command, own)
      other.apply(command, own)
      if (random.chance(0.1)) other = new Bench(decodeSnapshot(other.rooms.lastEntry, encodeSnapshot(other.rooms)), other.nowMs)
      const { schemas } = bench.state
      const uses = new Map<string, number>()
      for (const { context: name, versions } of schemas.subjects())
        for (const { id, deleted } of versions) {
          expect(schemas.content(name, id)).not.toBeNull()
          if (!deleted) uses.set(`${name} ${id}`, (uses.get(`${name} ${id}`) ?? 0) + 1)
        }
      for (const name of schemas.contexts())
        for (const { id, liveUses } of schemas.contents(name)) expect(liveUses).toBe(uses.get(`${name} ${id}`) ?? 0)
    }
    expect(hashRooms(other.rooms).toString('hex')).toBe(hashRooms(bench.rooms).toString('hex'))
  })
})
