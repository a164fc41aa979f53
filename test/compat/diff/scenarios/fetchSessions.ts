import type { Side } from '../side.ts'
import { batch, makeTopic } from '../world.ts'
import type { Scenario } from './index.ts'

interface Topic {
  readonly name: string
  readonly id: string
}

const part = (partition: number, fetchOffset = 0, more: object = {}): object => ({
  partition,
  fetchOffset,
  partitionMaxBytes: 1 << 20,
  ...more,
})

/** A client with one session, that asks in one version. */
class Client {
  readonly side: Side
  readonly version: number
  sessionId = 0
  epoch = 0

  constructor(side: Side, version: number) {
    this.side = side
    this.version = version
  }

  async fetch(
    label: string,
    topics: readonly { readonly topic: Topic; readonly partitions: readonly object[] }[],
    more: object = {},
    forget: readonly { readonly topic: Topic; readonly partitions: readonly number[] }[] = [],
  ): Promise<void> {
    const answer = await this.side.ask(label, 1, this.version, {
      maxWaitMs: 0,
      minBytes: 0,
      maxBytes: 1 << 20,
      isolationLevel: 0,
      sessionId: this.sessionId,
      sessionEpoch: this.epoch,
      topics: topics.map(({ topic, partitions }) => ({ topic: topic.name, topicId: topic.id, partitions })),
      forgottenTopicsData: forget.map(({ topic, partitions }) => ({ topic: topic.name, topicId: topic.id, partitions })),
      ...more,
    })
    if (answer?.errorCode !== 0) return
    if ('sessionId' in more || 'sessionEpoch' in more) return
    if (this.epoch === 0) this.sessionId = answer.sessionId
    this.epoch++
  }
}

async function produce(side: Side, topic: Topic, index: number, values: readonly string[]): Promise<void> {
  await side.ask('a batch', 0, 9, {
    acks: -1,
    timeoutMs: 30_000,
    transactionalId: null,
    topicData: [{ name: topic.name, partitionData: [{ index, records: batch(values) }] }],
  })
}

async function course(side: Side, version: number): Promise<void> {
  const topics: Topic[] = []
  for (const letter of ['a', 'b', 'c']) {
    const name = `fs-${version}-${letter}`
    topics.push({ name, id: await makeTopic(side, name, 3) })
  }
  const [a, b, c] = topics as [Topic, Topic, Topic]
  const client = new Client(side, version)
  await produce(side, a, 0, ['a0'])
  await client.fetch('begins', [
    { topic: a, partitions: [part(0), part(1), part(2)] },
    { topic: b, partitions: [part(0), part(1)] },
  ])
  await client.fetch('nothing new', [{ topic: a, partitions: [part(0, 1)] }])
  await client.fetch('nothing new again', [])
  await produce(side, a, 1, ['x', 'y'])
  await client.fetch('one partition has news', [])
  await client.fetch('the same again, as it was not asked anew', [])
  await client.fetch('it moves on', [{ topic: a, partitions: [part(1, 2)] }])
  await produce(side, b, 0, ['m'])
  await produce(side, a, 2, ['n'])
  await client.fetch('two topics have news', [])
  await client.fetch('order after records', [], { maxBytes: 1 })
  await client.fetch('order again', [], { maxBytes: 1 })
  await client.fetch('all of it moves on', [
    { topic: a, partitions: [part(2, 1)] },
    { topic: b, partitions: [part(0, 1)] },
  ])
  await client.fetch('a topic more', [{ topic: c, partitions: [part(0), part(1)] }])
  await client.fetch('a partition behind the end', [{ topic: c, partitions: [part(0, 7)] }])
  await client.fetch('the error again', [])
  await client.fetch('the error is over', [{ topic: c, partitions: [part(0, 0)] }])
  await client.fetch('told once', [])
  await client.fetch('an unknown partition', [{ topic: c, partitions: [part(9)] }])
  await client.fetch('still unknown', [])
  await client.fetch('forgotten', [], {}, [{ topic: c, partitions: [9, 1, 5] }])
  await client.fetch('a topic that is not in it forgotten', [], {}, [
    { topic: { name: 'fs-nowhere', id: '11111111-2222-3333-4444-555555555555' }, partitions: [0] },
  ])
  await client.fetch('forgotten and asked at once', [{ topic: c, partitions: [part(0, 0)] }], {}, [{ topic: c, partitions: [0] }])
  await produce(side, c, 0, ['z'])
  await client.fetch('nothing of the forgotten', [])
  await side.ask('records deleted', 21, 2, { timeoutMs: 5000, topics: [{ name: a.name, partitions: [{ partitionIndex: 1, offset: 1 }] }] })
  await client.fetch('the log start is news', [])
  await client.fetch('a wrong epoch', [], { sessionEpoch: client.epoch + 5 })
  await client.fetch('the last epoch', [], { sessionEpoch: client.epoch - 1 })
  await client.fetch('after errors it goes on', [])
  await client.fetch('an unknown session', [], { sessionId: client.sessionId ^ 1 })
  await client.fetch('epoch -2', [], { sessionEpoch: -2 })
  const other = version >= 13 ? 12 : 13
  await side.ask('the other kind of names', 1, other, {
    maxWaitMs: 0,
    minBytes: 0,
    maxBytes: 1 << 20,
    isolationLevel: 0,
    sessionId: client.sessionId,
    sessionEpoch: client.epoch,
    topics: [],
    forgottenTopicsData: [],
  })
  await client.fetch('it goes on', [])
  await client.fetch('all forgotten', [], {}, [
    { topic: a, partitions: [0, 1, 2] },
    { topic: b, partitions: [0, 1] },
    { topic: c, partitions: [0] },
  ])
  await client.fetch('it is gone', [])
  client.sessionId = 0
  client.epoch = 0
  await client.fetch('another one', [{ topic: a, partitions: [part(0)] }])
  const old = client.sessionId
  await client.fetch('made anew', [{ topic: b, partitions: [part(0)] }], { sessionEpoch: 0 })
  await client.fetch('the old one is gone', [], { sessionId: old, sessionEpoch: 1 })
  client.sessionId = 0
  client.epoch = 0
  await client.fetch('a third', [{ topic: a, partitions: [part(0)] }])
  const last = client.sessionId
  await client.fetch('closed', [{ topic: a, partitions: [part(0)] }], { sessionEpoch: -1 })
  await client.fetch('closed it is gone', [], { sessionId: last, sessionEpoch: 1 })
  client.sessionId = 0
  client.epoch = 0
  await client.fetch('of nothing', [])
  await client.fetch('of nothing, on', [{ topic: a, partitions: [part(0)] }])
  client.sessionId = 0
  client.epoch = 0
  await client.fetch('of an unknown topic', [
    { topic: { name: 'fs-nowhere', id: '11111111-2222-3333-4444-555555555555' }, partitions: [part(0)] },
  ])
  await client.fetch('of an unknown topic, on', [])
  client.sessionId = 0
  client.epoch = 0
  await client.fetch('of topics without partitions', [{ topic: a, partitions: [] }])
  await client.fetch('a deleted topic, before', [{ topic: b, partitions: [part(0)] }])
}

export const fetchSessions: readonly Scenario[] = [7, 11, 12, 13, 16, 18].map((version) => ({
  name: `fetch sessions v${version}`,
  run: (side) => course(side, version),
}))
