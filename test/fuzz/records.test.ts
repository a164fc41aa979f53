import { expect, test } from 'vitest'
import { decompressPayload } from '../../protocol/records/codecs.ts'
import { RecordsError } from '../../protocol/records/errors.ts'
import { batchCrc } from '../../protocol/records/header.ts'
import { setInt32 } from '../../protocol/records/bytes.ts'
import { checkBatch, validateRecords } from '../../protocol/records/validate.ts'
import { codecNames, recording, recordings } from '../unit/records/fixtureSets.ts'
import { readRecords, rules } from '../unit/records/help.ts'

/** A small seeded generator (mulberry32): one seed, one run. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const small = recordings.filter(({ set }) => set === 'edge').map(({ client, codec, set }) => recording(client, codec, set))

test.each([1, 2, 3, 4])('seed %i: a damaged batch is refused or read, and never anything else', (seed) => {
  const next = random(seed)
  let refused = 0
  let read = 0
  for (let i = 0; i < 5000; i++) {
    const batch = Uint8Array.from(small[Math.floor(next() * small.length)])
    batch.fill(0, 0, 8)
    for (let flips = 1 + Math.floor(next() * 3); flips > 0; flips--) {
      batch[8 + Math.floor(next() * (batch.length - 8))] = next() < 0.3 ? 255 : Math.floor(next() * 256)
    }
    const cut = next() < 0.2 ? batch.subarray(0, Math.floor(next() * batch.length)) : batch
    // Fit the CRC again, so that what lies behind it is reached.
    if (cut === batch && checkBatch(batch, rules()).error === 2 && batch[16] === 2) {
      const size = new DataView(batch.buffer).getInt32(8) + 12
      if (size >= 61 && size <= batch.length) setInt32(batch, 17, batchCrc(batch))
    }
    const checked = checkBatch(cut, rules())
    const outcome = checked.header === null ? checked : validateRecords(cut, rules({ inflatedMaxBytes: 1e6 }))
    if (outcome.error !== 0) {
      if (outcome.message === '') throw new Error('refused without a word')
      refused++
      continue
    }
    read++
    const header = checked.header!
    expect(readRecords(cut.subarray(0, header.sizeBytes)).length).toBe(header.count)
  }
  expect(refused).toBeGreaterThan(1000)
  expect(read).toBeGreaterThan(100)
})

test.each(codecNames.map((name, codec) => [name, codec] as const))('%s: damaged payloads stay inside the limit', (name, codec) => {
  const next = random(codec + 10)
  const good = recording('java', name, name === 'none' ? 'edge' : 'big').subarray(61)
  for (let i = 0; i < 1000; i++) {
    const payload = Buffer.from(good.subarray(0, next() < 0.2 ? Math.floor(next() * good.length) : good.length))
    for (let flips = Math.floor(next() * 4); flips > 0 && payload.length > 0; flips--)
      payload[Math.floor(next() * payload.length)] = Math.floor(next() * 256)
    expect(inflatedBytes(codec, payload)).toBeLessThanOrEqual(200000)
  }
})

/** 0 for what is refused; any other error than ours ends the test. */
function inflatedBytes(codec: number, payload: Uint8Array): number {
  try {
    return decompressPayload(codec, payload, 200000).length
  } catch (error) {
    if (error instanceof RecordsError) return 0
    throw error
  }
}
