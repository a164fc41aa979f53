import { Registry } from 'prom-client'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/log.ts'
import { seededRandom } from '../src/base/random.ts'
import { StoreLog } from '../src/metadata/logs/storeLog.ts'
import type { MetadataEngine } from '../src/metadata/engine.ts'
import { openMetadata } from '../src/metadata/open.ts'
import { encodeSnapshot } from '../src/metadata/snapshot/file.ts'
import { MemoryStore } from '../src/storage/memory.ts'

/**
 * How long a pod takes to load the metadata of 2,000 topics with 10,000 partitions and 10,000 producers from a bucket that answers after
 * 20 ms: a snapshot, and a tail of 5,000 entries behind it, the longest that a pod leaves. `node bench/start.ts`
 */
const TOPICS = 2000
const PARTITIONS = 5
const TAIL = 5000
const GET_MS = 20

const random = seededRandom(1)
const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => Math.floor(random() * 256))
const uuid = (): string =>
  Buffer.from(bytes(16))
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-4$3-8$4-$5')
const store = new MemoryStore()

function open(pod: string): Promise<MetadataEngine> {
  const log = new StoreLog({ store, clock: systemClock })
  return openMetadata({
    log,
    clock: systemClock,
    logger: silentLogger,
    registry: new Registry(),
    pod,
    random: bytes,
    snapshots: { entries: 1e9, logBytes: 1e12 },
  })
}

const engine = await open('a')
const topics: number[] = []
for (let i = 0; i < TOPICS; i++) {
  const table = { namespace: 'default', name: `topic_${i}`, uuid: uuid() }
  const made = await engine.propose({
    kind: 'createTopic',
    name: `topic-${i}`,
    topicId: uuid(),
    partitions: PARTITIONS,
    configs: {},
    table,
  })
  if (made.kind !== 'topic') throw new Error(JSON.stringify(made))
  topics.push(made.topic)
}
let walSequence = 0
/** One WAL object with a batch for each of these topics' partitions, or one partition of one topic. */
async function produce(chosen: readonly number[], partitions: readonly number[], producer: boolean): Promise<void> {
  let at = 24
  const parts = chosen.flatMap((topic) =>
    partitions.map((partition) => {
      const part = {
        topic,
        partition,
        byteOffset: at,
        sizesBytes: [200],
        offsetCounts: [2],
        maxTimestampsMs: [1],
        producerIds: [producer ? topic * 10 + partition : -1],
        producerEpochs: [producer ? 0 : -1],
        baseSequences: [producer ? 0 : -1],
        appendTimesMs: [-1],
      }
      at += 200
      return part
    }),
  )
  walSequence++
  const result = await engine.propose({ kind: 'commitWal', key: `wal/0/1/${walSequence}.wal`, sizeBytes: at, walSequence, parts })
  if (result.kind !== 'wal') throw new Error(JSON.stringify(result))
}
for (let i = 0; i < TOPICS; i += 100) await produce(topics.slice(i, i + 100), [0, 1, 2, 3, 4], true)
const log = new StoreLog({ store })
await log.open()
const snapshot = encodeSnapshot(engine.state.rooms)
await log.writeSnapshot(engine.state.lastEntry, snapshot)
for (let i = 0; i < TAIL; i++)
  await produce(
    Array.from({ length: 4 }, (_, k) => topics[(i * 7 + k * 500) % TOPICS]).sort((a, b) => a - b),
    [i % PARTITIONS],
    false,
  )
await engine.close()

store.faults = () => ({ delayMs: GET_MS })
const beganMs = performance.now()
const again = await open('b')
const tookMs = performance.now() - beganMs
const { state } = again
console.log(
  `${[...state.topics()].length} topics, ${TOPICS * PARTITIONS} partitions, snapshot ${(snapshot.length / 1e6).toFixed(1)} MB, tail ${TAIL} entries, ` +
    `${GET_MS} ms a request: ready after ${(tookMs / 1000).toFixed(2)} s, ${Math.round(process.memoryUsage().rss / 1e6)} MB resident`,
)
await again.close()
await store.close()
process.exit(0)
