import { describe, expect, it } from 'vitest'
import { followEntry } from '../../../src/metadata/apply/apply.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import type { RawEntry } from '../../../src/metadata/entryLog.ts'
import { loadRooms } from '../../../src/metadata/snapshot/load.ts'
import { hashRooms } from '../../../src/metadata/snapshot/hash.ts'
import { silentLogger } from '../../../src/base/log.ts'
import type { ForwardOutcome, Forwarded } from '../../../src/metadata/relay.ts'
import { open, topicCommand } from './helpers.ts'
import { MemoryDisk, MemoryLog } from './memoryLog.ts'

interface Pair {
  readonly disk: MemoryDisk
  readonly holder: MetadataEngine
  readonly holderLog: MemoryLog
  readonly other: MetadataEngine
  readonly otherLog: MemoryLog
  forwards: number
}

/** Two pods on one log: `other` forwards by `how`, `holder` streams what it writes when `stream`. */
async function pair(
  how: (send: () => Promise<ForwardOutcome>, forwarded: Forwarded) => Promise<ForwardOutcome> | null,
  stream = true,
): Promise<Pair> {
  const disk = new MemoryDisk()
  const [holderLog, otherLog] = [new MemoryLog(disk), new MemoryLog(disk)]
  const holder = await open(holderLog, { pod: 'a' })
  const other = await open(otherLog, { pod: 'b' })
  const made: Pair = { disk, holder, holderLog, other, otherLog, forwards: 0 }
  if (stream) holder.onWritten((raw) => void other.offer(raw))
  await holder.barrier()
  other.useRelay({
    forward: (forwarded) => {
      made.forwards++
      const send = async (): Promise<ForwardOutcome> => ({ kind: 'written', entry: await holder.proposeForwarded(forwarded) })
      return how(send, forwarded)
    },
  })
  return made
}

async function same({ disk, holder, other }: Pair): Promise<void> {
  await Promise.all([holder.barrier(), other.barrier()])
  const { rooms } = await loadRooms(new MemoryLog(disk), silentLogger)
  expect(hashRooms(other.state.rooms)).toEqual(hashRooms(rooms))
  expect(hashRooms(holder.state.rooms)).toEqual(hashRooms(rooms))
}

const ids = (results: readonly unknown[]) => results.map((result) => (result as { first?: number }).first)
const allocate = { kind: 'allocateProducerIds', count: 10 } as const

describe('forwarded proposals (L21)', () => {
  it('are written by the holder, with its own, as one entry; results come from the streamed entry', async () => {
    const made = await pair((send) => send())
    const before = made.holder.state.lastEntry
    const all = await Promise.all([
      made.holder.propose(allocate),
      made.other.propose(allocate),
      made.other.propose(topicCommand('t')),
      made.other.propose(allocate),
    ])
    expect(
      ids(all)
        .filter((first) => first !== undefined)
        .sort((a, b) => a! - b!),
    ).toEqual([0, 10, 20])
    expect(all[2]).toMatchObject({ kind: 'topic' })
    expect(made.forwards).toBeGreaterThan(0)
    expect(made.otherLog.appendedBytes.length).toBe(1) // its registration
    expect(made.holder.state.lastEntry - before).toBeLessThanOrEqual(3)
    await same(made)
  })

  it('without a stream the log is read; without an answer the log decides, and nothing applies twice', async () => {
    for (const how of ['silent', 'unknown before', 'unknown after', 'late'] as const) {
      const late: (() => Promise<unknown>)[] = []
      const made = await pair(async (send) => {
        if (how === 'unknown after' || how === 'silent') await send()
        if (how === 'late') late.push(send)
        return how === 'silent' ? { kind: 'written', entry: made.holder.state.lastEntry } : { kind: 'unknown' }
      }, false)
      const results = await Promise.all([made.other.propose(allocate), made.other.propose(allocate)])
      expect(ids(results)).toEqual([0, 10])
      for (const send of late) await send()
      expect(ids([await made.other.propose(allocate), await made.holder.propose(allocate)])).toEqual([20, 30])
      await same(made)
    }
  })

  it('a holder that writes while we write ourselves: one of both lands, once', async () => {
    const made = await pair(async (send) => {
      void send() // races with our own append
      return { kind: 'unknown' }
    })
    for (let round = 0; round < 20; round++) expect(ids([await made.other.propose(allocate)])).toEqual([round * 10])
    await same(made)
  })

  it('a relay that knows nobody, and a refused write: we write, and number anew', async () => {
    const made = await pair(() => null)
    expect(ids([await made.other.propose(allocate)])).toEqual([0])
    await same(made)
  })
})

describe('streamed entries (L3, L21)', () => {
  async function streamed(): Promise<{ made: Pair; entries: RawEntry[] }> {
    const made = await pair(() => null, false)
    const entries: RawEntry[] = []
    made.holder.onWritten((raw) => entries.push(raw))
    for (let i = 0; i < 4; i++) await made.holder.propose(allocate)
    return { made, entries }
  }

  it('apply in order, whatever order they come in, without a look at the log', async () => {
    const { made, entries } = await streamed()
    made.otherLog.beforeRead = () => {
      throw new Error('the log was read')
    }
    const before = made.other.state.lastEntry
    expect([2, 1].map((i) => made.other.offer(entries[i]))).toEqual([false, false])
    expect(made.other.state.lastEntry).toBe(before)
    expect([0, 0, 3, 1].map((i) => made.other.offer(entries[i]))).toEqual([true, true, true, true])
    expect(made.other.state.lastEntry).toBe(before + 4)
    expect(hashRooms(made.other.state.rooms)).toEqual(hashRooms(made.holder.state.rooms))
  })

  it('prove nothing: damaged ones, or ones of another history, are taken from the log', async () => {
    const { made, entries } = await streamed()
    const bytes = Buffer.from(entries[0].bytes)
    bytes[bytes.length - 1] ^= 1
    made.other.offer({ ...entries[0], bytes: bytes.subarray(0, bytes.length - 3) })
    made.other.offer({ ...entries[1], number: entries[0].number })
    await same(made)
    // One that fits the chain and is not what the log has: the next entry shows it, and the state is loaded anew.
    const bench = await pair(() => null, false)
    const forged: RawEntry[] = []
    const alone = await open(new MemoryLog(new MemoryDisk()), { pod: 'x' })
    alone.onWritten((raw) => forged.push(raw))
    alone.state.rooms = (await loadRooms(new MemoryLog(bench.disk), silentLogger)).rooms
    await alone.propose(allocate)
    followEntry((await loadRooms(new MemoryLog(bench.disk), silentLogger)).rooms, forged[0])
    bench.other.offer(forged[0])
    expect(bench.other.state.lastEntry).toBe(bench.holder.state.lastEntry + 1)
    await bench.holder.propose(topicCommand('real'))
    await bench.holder.propose(topicCommand('real-2'))
    await same(bench)
  })
})
