import { afterEach, describe, expect, it } from 'vitest'
import { setInt16, setInt32, setInt64 } from '../../../../protocol/records/bytes.ts'
import { batchCrc } from '../../../../protocol/records/header.ts'
import { TXN_IMPLICIT } from '../../../../src/metadata/commands.ts'
import type { TopicView } from '../../../../src/metadata/view.ts'
import { bench, valueBatch, type Bench } from '../harness.ts'
import { readBack } from '../readBack.ts'

let b: Bench
afterEach(() => b.end())

interface Owner {
  readonly transactionalId: string
  producerId: number
  producerEpoch: number
  sequence: number
}

async function owner(transactionalId: string): Promise<Owner> {
  const made = await b.engine.propose({ kind: 'initTransaction', transactionalId, timeoutMs: 1000, producerId: -1, producerEpoch: -1 })
  if (made.kind !== 'transaction') throw new Error(JSON.stringify(made))
  return { transactionalId, producerId: made.producerId, producerEpoch: made.producerEpoch, sequence: 0 }
}

async function produce(by: Owner, topic: TopicView, values: readonly string[], partition = 0): Promise<void> {
  const plain = valueBatch(values)
  const { bytes } = plain
  setInt16(bytes, 21, 0x10)
  setInt64(bytes, 43, by.producerId)
  setInt16(bytes, 51, by.producerEpoch)
  setInt32(bytes, 53, by.sequence)
  setInt32(bytes, 17, batchCrc(bytes))
  const { producerId, producerEpoch, sequence: baseSequence } = by
  const batch = { ...plain, producerId, producerEpoch, baseSequence, transaction: TXN_IMPLICIT }
  const [answer] = await b.wal.append([{ topic: topic.topic, partition, batch }])
  if (answer!.error !== 0) throw new Error(`error ${answer!.error}`)
  by.sequence += values.length
}

async function end(by: Owner, isCommit: boolean): Promise<void> {
  const { transactionalId, producerId, producerEpoch } = by
  const own = { transactionalId, producerId, producerEpoch }
  const ended = await b.engine.propose({ kind: 'endTransaction', ...own, isCommit, raisesEpoch: true })
  if (ended.kind !== 'transaction' || ended.error !== 0) throw new Error(JSON.stringify(ended))
  Object.assign(by, { producerId: ended.producerId, producerEpoch: ended.producerEpoch, sequence: 0 })
}

/** Offsets and values of all rows of a partition. */
async function rows(topic: TopicView, partition = 0): Promise<[number, string][]> {
  const all: [number, string][] = []
  for (const file of b.table(topic).files()) {
    const { body } = await b.store.get(file.key, { reason: 'fetch' })
    for (const row of (await readBack(body)).get(partition) ?? []) all.push([row.offset, Buffer.from(row.value!).toString()])
  }
  return all.sort((one, other) => one[0] - other[0])
}

describe('only what is committed becomes a row (P3)', () => {
  it('of transactions side by side', async () => {
    b = await bench({ level: 2 })
    const topic = await b.topic('t', 1)
    const [one, two] = [await owner('one'), await owner('two')]
    await produce(one, topic, ['a1', 'a2'])
    await produce(two, topic, ['b1'])
    await b.produce(topic, 0, ['plain'])
    await produce(one, topic, ['a3'])
    await end(two, false)
    await produce(two, topic, ['b2'])
    await end(one, true)
    await end(two, true)
    await b.load(topic)
    expect(await rows(topic)).toEqual([
      [0, 'a1'],
      [1, 'a2'],
      [3, 'plain'],
      [4, 'a3'],
      [6, 'b2'],
    ])
    expect(b.engine.state.abortedTransactions(topic.topic, 0, 0, Infinity)).toEqual([])
  })

  it('nothing at or above the last stable offset; what lies below does not wait for it', async () => {
    b = await bench({ level: 2 })
    const topic = await b.topic('t', 2)
    const open = await owner('open')
    await b.produce(topic, 0, ['before'])
    await produce(open, topic, ['undecided'])
    await b.produce(topic, 0, ['behind it'])
    await b.produce(topic, 1, ['elsewhere'])
    await b.load(topic)
    expect([await rows(topic), await rows(topic, 1)]).toEqual([[[0, 'before']], [[0, 'elsewhere']]])
    expect(b.engine.state.unconvertedRecords(topic.topic)).toBe(0)
    await end(open, true)
    await b.load(topic)
    expect((await rows(topic)).map(([offset]) => offset)).toEqual([0, 1, 2])
  })

  it('a range of nothing but aborted records and markers moves progress on and frees its object', async () => {
    b = await bench({ level: 2 })
    const topic = await b.topic('t', 1)
    const by = await owner('by')
    await produce(by, topic, ['never'])
    await end(by, false)
    await produce(by, topic, ['nor this'])
    await end(by, false)
    await b.load(topic)
    expect(await rows(topic)).toEqual([])
    expect(b.engine.state.firstUnconverted(topic.topic, 0)).toBe(4)
    expect([...b.engine.state.walObjects()]).toEqual([])
    // markers alone, with no object at all
    await end(by, false)
    await b.engine.propose({
      kind: 'writeMarkers',
      markers: [{ topic: topic.topic, partition: 0, producerId: 900, producerEpoch: 0, isCommit: true, transactionVersion: 0 }],
    })
    await b.load(topic)
    expect(b.engine.state.firstUnconverted(topic.topic, 0)).toBe(5)
  })
})
