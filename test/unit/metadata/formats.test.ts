import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { followEntry } from '../../../src/metadata/apply/apply.ts'
import { GENESIS_HASH, assembleEntry, decodeEntry, encodeCommand, entryHash } from '../../../src/metadata/codec.ts'
import type { Command } from '../../../src/metadata/commands.ts'
import { EntryType, ProposalType } from '../../../src/metadata/schema/entries.ts'
import { decodeSnapshot, encodeSnapshot } from '../../../src/metadata/snapshot/file.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { Rooms } from '../../../src/metadata/state/state.ts'
import { UnknownField, decodeCommitWal, encodeCommitWal } from '../../../src/metadata/walCodec.ts'
import { CommandSource, Random } from './randomCommands.ts'
import { SAMPLES } from './samples.ts'

const folder = new URL('../../fixtures/metadata/', import.meta.url)

/** Frozen bytes. A missing file is written, so that new kinds can be added; what is there never changes. */
function golden(name: string, bytes: Uint8Array): Buffer {
  const url = new URL(name, folder)
  if (!existsSync(url) && process.env.FRAZIL_WRITE_GOLDEN === '1')
    writeFileSync(
      url,
      Buffer.from(bytes)
        .toString('hex')
        .replace(/.{1,128}/g, '$&\n'),
    )
  return Buffer.from(readFileSync(url, 'latin1').replaceAll('\n', ''), 'hex')
}

const names = SAMPLES.map((command, i) => {
  const again = SAMPLES.slice(0, i).filter((other) => other.kind === command.kind).length
  return again === 0 ? command.kind : `${command.kind}-${again + 1}`
})

function sampleEntry(command: Command): Buffer {
  const register = command.kind === 'registerIncarnation'
  const head = { number: 300, previousHash: Buffer.alloc(32, 0xab), timeMs: 1_700_000_000_123, writer: 2, attachmentBytes: 70_000 }
  const proposal = { incarnation: register ? 0 : 2, sequence: register ? 0 : 129, attachmentOffset: 5, bytes: encodeCommand(command) }
  return assembleEntry(head, [proposal])
}

/** Plain data: messages as objects, bytes as hex. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, v: unknown) =>
      v !== null && typeof v === 'object' && (v as { type?: string }).type === 'Buffer' ? Buffer.from(v as never).toString('hex') : v,
    ),
  )

describe('entries on disk', () => {
  it.each(names.map((name, i) => [name, SAMPLES[i]] as const))('%s: golden bytes, both ways', (name, command) => {
    const bytes = sampleEntry(command)
    const frozen = golden(`entry-${name}.hex`, bytes)
    expect(bytes.toString('hex')).toBe(frozen.toString('hex'))
    const entry = decodeEntry(300, frozen)
    const head = { number: entry.number, timeMs: entry.timeMs, writer: entry.writer, attachmentBytes: entry.attachmentBytes }
    expect(head).toEqual({ number: 300, timeMs: 1_700_000_000_123, writer: 2, attachmentBytes: 70_000 })
    expect(Buffer.from(entry.previousHash)).toEqual(Buffer.alloc(32, 0xab))
    const [proposal] = entry.proposals
    expect(proposal.attachmentOffset).toBe(5)
    // What was left out as a default reads as that default.
    expect(
      plain(
        ProposalType.toObject(ProposalType.fromObject({ [command.kind]: proposal.command }), {
          defaults: true,
          arrays: true,
          objects: true,
        }),
      ),
    ).toEqual(
      plain(ProposalType.toObject(ProposalType.fromObject({ [command.kind]: command }), { defaults: true, arrays: true, objects: true })),
    )
    // protobufjs makes the same of the whole entry, field by field.
    const message = EntryType.decode(frozen)
    expect(Buffer.from(EntryType.encode(message).finish()).toString('hex')).toBe(frozen.toString('hex'))
  })

  it('the chain starts with 32 zero bytes and goes on with SHA-256 over hash and bytes', () => {
    expect(GENESIS_HASH).toEqual(Buffer.alloc(32))
    expect(entryHash(GENESIS_HASH, Buffer.from('abc')).toString('hex')).toBe(
      golden('chain.hex', entryHash(GENESIS_HASH, Buffer.from('abc'))).toString('hex'),
    )
  })

  it('a field that is not known, in entry, proposal or command, is of a newer program (L5)', () => {
    const head = { number: 1, previousHash: GENESIS_HASH, timeMs: 1, writer: 1, attachmentBytes: 0 }
    const unknown = Buffer.from([0x78, 0x01]) // field 15, varint 1
    const wrap = (id: number, body: Uint8Array): Buffer =>
      Buffer.concat([Buffer.from([(((id << 3) | 2) & 127) | 128, (id << 3) >> 7, body.length]), body])
    const entryOf = (bytes: Uint8Array): Buffer => assembleEntry(head, [{ incarnation: 1, sequence: 1, attachmentOffset: 0, bytes }])
    const drop = encodeCommand({ kind: 'dropTable', tableUuid: 'u' })
    expect(decodeEntry(1, entryOf(drop)).proposals[0].command).toMatchObject({ kind: 'dropTable', tableUuid: 'u' })
    expect(decodeEntry(1, entryOf(wrap(25, drop.subarray(3)))).proposals[0].command).toMatchObject({ tableUuid: 'u' })
    for (const bytes of [
      entryOf(wrap(25, Buffer.concat([drop.subarray(3), unknown]))),
      // In a message inside the command: the first trim, the first range of a file.
      entryOf(wrap(26, wrap(1, unknown))),
      entryOf(wrap(24, wrap(7, wrap(5, unknown)))),
      entryOf(wrap(22, unknown)),
      entryOf(wrap(22, wrap(4, unknown))),
      entryOf(Buffer.concat([drop, unknown])),
      Buffer.concat([entryOf(drop), unknown]),
    ]) {
      expect(() => decodeEntry(1, bytes)).toThrow(expect.objectContaining({ code: 'LEVEL_UNKNOWN' }))
    }
  })

  it('bytes cut short, or of nothing, are no entry', () => {
    for (const command of SAMPLES) {
      const bytes = sampleEntry(command)
      for (const length of [0, 1, 10, 40, bytes.length - 1])
        expect(() => decodeEntry(300, bytes.subarray(0, length))).toThrow(/metadata entry 300/)
    }
  })
})

describe('CommitWal by hand', () => {
  const edges = [
    0,
    1,
    127,
    128,
    16_383,
    16_384,
    2 ** 21 - 1,
    2 ** 21,
    2 ** 28 - 1,
    2 ** 28,
    2 ** 31 - 1,
    2 ** 31,
    2 ** 32,
    2 ** 35,
    2 ** 42,
    2 ** 52,
    2 ** 53 - 1,
  ]

  it('is byte for byte what protobufjs makes, and reads what it wrote', () => {
    const random = new Random(7)
    const pick = (signed: boolean, max: number): number => {
      const value = Math.min(random.chance(0.5) ? edges[random.int(edges.length)] : random.int(max), max)
      return signed && random.chance(0.5) ? -value : value
    }
    for (let round = 0; round < 300; round++) {
      const parts = Array.from({ length: random.int(4) }, () => {
        const many = (signed: boolean, max: number): number[] => Array.from({ length: length }, () => pick(signed, max) + 0)
        const length = random.int(4)
        return {
          topic: pick(false, 2 ** 40),
          partition: pick(false, 1e5),
          byteOffset: pick(false, 2 ** 32),
          sizesBytes: many(false, 2 ** 32 - 1),
          offsetCounts: many(false, 2 ** 31 - 1),
          maxTimestampsMs: many(true, 2 ** 53 - 1),
          producerIds: many(true, 2 ** 53 - 1),
          producerEpochs: many(true, 32_767),
          baseSequences: many(true, 2 ** 31 - 1),
          appendTimesMs: many(true, 2 ** 53 - 1),
          transactions: many(false, 2),
        }
      })
      const command = {
        kind: 'commitWal',
        key: random.chance(0.3) ? '' : `wal/é/${random.hex(8)}`,
        sizeBytes: pick(false, 2 ** 32),
        walSequence: pick(false, 2 ** 50),
        parts,
      } as const
      const byHand = Buffer.from(encodeCommitWal(command))
      const byLibrary = Buffer.from(ProposalType.encode({ commitWal: command } as never).finish())
      expect(byHand.toString('hex')).toBe(byLibrary.toString('hex'))
      const { commitWal } = ProposalType.toObject(ProposalType.decode(byHand), { defaults: true, arrays: true }) as { commitWal: object }
      const read = decodeEntry(
        1,
        assembleEntry({ number: 1, previousHash: GENESIS_HASH, timeMs: 0, writer: 0, attachmentBytes: 0 }, [
          { incarnation: 0, sequence: 0, attachmentOffset: 0, bytes: byHand },
        ]),
      )
      expect(plain(read.proposals[0].command)).toEqual(plain({ kind: 'commitWal', ...commitWal }))
    }
  })

  it('timestamps that are no int64 saturate', () => {
    const part = {
      topic: 1,
      partition: 0,
      byteOffset: 0,
      sizesBytes: [1],
      offsetCounts: [1],
      maxTimestampsMs: [2 ** 63],
      producerIds: [-(2 ** 63)],
      producerEpochs: [0],
      baseSequences: [0],
      appendTimesMs: [0],
    }
    const bytes = encodeCommitWal({ key: '', sizeBytes: 1, walSequence: 1, parts: [part] })
    const { commitWal } = ProposalType.decode(bytes) as unknown as {
      commitWal: { parts: { maxTimestampsMs: number[]; producerIds: number[] }[] }
    }
    expect(commitWal.parts[0].maxTimestampsMs[0]).toBe(9223372036854774784)
    expect(commitWal.parts[0].producerIds[0]).toBe(-9223372036854774784)
  })

  it('unknown fields are a newer program; garbage is an error and ends', () => {
    expect(() => decodeCommitWal(Buffer.from([0x28, 1]))).toThrow(UnknownField)
    expect(() => decodeCommitWal(Buffer.from([0x22, 2, 0x60, 1]))).toThrow(UnknownField)
    const random = new Random(3)
    for (let i = 0; i < 2000; i++) {
      const bytes = Buffer.from(random.hex(2 * random.int(60)), 'hex')
      expect(() => {
        try {
          decodeEntry(1, bytes)
        } catch (error) {
          if ((error as { code?: string }).code === undefined) throw error
        }
      }).not.toThrow()
    }
  })
})

describe('snapshots on disk', () => {
  it('golden bytes and hash of a state that has everything', () => {
    const rooms = new Rooms()
    const source = new CommandSource(42, rooms)
    for (let i = 0; i < 150; i++) followEntry(rooms, source.entry())
    const bytes = encodeSnapshot(rooms)
    const frozen = golden('snapshot.hex', bytes)
    expect(Buffer.from(bytes).equals(frozen)).toBe(true)
    const hash = golden('snapshot-state-hash.hex', hashRooms(rooms))
    expect(hashRooms(decodeSnapshot(150, frozen)).toString('hex')).toBe(hash.toString('hex'))
  })

  it('one byte changed anywhere never gives another state', () => {
    const rooms = new Rooms()
    const source = new CommandSource(42, rooms)
    for (let i = 0; i < 60; i++) followEntry(rooms, source.entry())
    const bytes = Buffer.from(encodeSnapshot(rooms))
    const lastHash = bytes.indexOf(Buffer.from(rooms.lastHash))
    const passed: number[] = []
    for (let at = 0; at < bytes.length; at += 7) {
      // The hash of the last entry is proved by the entry after it.
      if (at >= lastHash && at < lastHash + 32) continue
      const changed = Buffer.from(bytes)
      changed[at] ^= 0x15
      try {
        // What is taken all the same is the same state, written another way (a flag of 20 is as true as one of 1).
        if (!bytes.equals(encodeSnapshot(decodeSnapshot(60, changed)))) passed.push(at)
      } catch (error) {
        if ((error as { code?: string }).code !== 'CORRUPT') throw error
      }
    }
    expect(passed).toEqual([])
  })
})
