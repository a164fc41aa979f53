import { expect, test } from 'vitest'
import { DecodedGroup, GroupCache } from '../../../../src/tables/readback/cache.ts'
import { Loads, type Wanted } from '../../../../src/tables/readback/loads.ts'
import { ManualClock, settle } from '../../wal/harness.ts'

const SIZE_BYTES = 10_000

function group(): DecodedGroup {
  return new DecodedGroup({
    partitions: Int32Array.of(0),
    firstOffsets: Float64Array.of(0),
    lastOffsets: Float64Array.of(9),
    maxTimestampsMs: Float64Array.of(0),
    batches: [new Uint8Array(SIZE_BYTES - 456)],
  })
}

function room(groups: number): {
  clock: ManualClock
  cache: GroupCache
  loads: Loads
  begun: string[]
  wanted: (key: string, order: number, fails?: boolean) => Wanted
} {
  const clock = new ManualClock()
  const cache = new GroupCache({ maxBytes: groups * SIZE_BYTES, clock })
  const begun: string[] = []
  const wanted = (key: string, order: number, fails = false): Wanted => ({
    key,
    order,
    sizeBytes: SIZE_BYTES,
    load: async () => {
      begun.push(key)
      if (fails) throw new Error('it does not load')
      return group()
    },
  })
  return { clock, cache, loads: new Loads({ cache, clock, maxLoads: 4 }), begun, wanted }
}

test('what fits is loaded; the rest follow as readers finish, older files first', async () => {
  const { cache, loads, begun, wanted } = room(2)
  for (const [key, order] of [
    ['a', 1],
    ['b', 2],
    ['d', 4],
    ['c', 3],
  ] as const)
    loads.ask(wanted(key, order), 0)
  await settle()
  expect(begun).toEqual(['a', 'b'])
  expect(cache.usedBytes).toBe(2 * SIZE_BYTES)
  cache.get('b')!.release(0)
  loads.pump()
  await settle()
  expect(begun).toEqual(['a', 'b', 'c'])
  expect([cache.has('a'), cache.has('b'), cache.has('c')]).toEqual([true, false, true])
})

test('nobody is passed over for longer than a second', async () => {
  const { clock, cache, loads, begun, wanted } = room(1)
  loads.ask(wanted('a', 1), 0)
  await settle()
  loads.ask(wanted('late', 9), 1)
  await clock.advance(1_001)
  loads.ask(wanted('b', 2), 0)
  cache.get('a')!.release(0)
  loads.pump()
  await settle()
  expect(begun).toEqual(['a', 'late'])
})

test('a reader that stays away holds neither memory nor a place in the line', async () => {
  const { clock, cache, loads, begun, wanted } = room(1)
  loads.ask(wanted('a', 1), 0)
  await settle()
  let told = 0
  loads.ask(wanted('b', 2), 1)!.whenReady(() => told++)
  await clock.advance(5_001)
  loads.ask(wanted('c', 3), 2)
  await settle()
  expect([begun, told, cache.has('a'), cache.has('c')]).toEqual([['a', 'c'], 1, false, true])
})

test('a failure is told to whoever asks next, once; who loads at once meets it', async () => {
  const { loads, begun, wanted } = room(1)
  let told = 0
  loads.ask(wanted('a', 1, true), 0)!.whenReady(() => told++)
  await settle()
  expect([told, loads.ask(wanted('a', 1, true), 0)]).toEqual([1, null])
  await expect(loads.now(wanted('a', 1, true))).rejects.toThrow('it does not load')
  expect(begun).toEqual(['a', 'a'])
  expect(loads.ask(wanted('a', 1), 0)).not.toBe(null)
})
