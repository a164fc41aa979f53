import { Errors } from '../../protocol/index.ts'
import { Bucket } from './world/bucket.ts'
import { Connection, type NetworkWeather } from './clients/connection.ts'
import { Consumer } from './clients/consumer.ts'
import { reachable, type Cluster } from './clients/cluster.ts'
import { IdempotentProducer, PlainProducer, type Producer } from './clients/producer.ts'
import { TransactionalProducer } from './clients/transactional.ts'
import { Prober } from './clients/prober.ts'
import { judgeLog, judgeStates, judgeTable, readAll, readCommitted } from './judge/final.ts'
import { History, type Violation } from './judge/history.ts'
import { FAULT_KINDS, Nemesis, type FaultKind } from './nemesis.ts'
import { Pod, type Running } from './pod/pod.ts'
import { shapeOf } from './shape.ts'
import { FaultCounts } from './world/faults.ts'
import { PeerWires } from './world/peers.ts'
import { World } from './world/world.ts'

export interface SeedOptions {
  /** Client operations before the run drains. */
  readonly operations?: number
  /** Faults that may strike; all when left out. */
  readonly kinds?: readonly FaultKind[]
  readonly keepTrace?: boolean
}

export interface SeedResult {
  readonly seed: number
  readonly violations: readonly Violation[]
  readonly operations: number
  readonly records: number
  readonly transactions: number
  readonly reads: number
  readonly tableRows: number
  /** Incarnations that lived once and that the state knows no more. */
  readonly forgotten: number
  readonly faults: ReadonlyMap<string, number>
  readonly faultTotal: number
  readonly turns: number
  readonly simulatedMs: number
  /** Of everything that happened. */
  readonly digest: string
  readonly trace: readonly string[]
}

export const OPERATIONS = 500
/** A run goes on until so many faults have struck. */
const FAULTS_MIN = 10
const START_WITHIN_MS = 60_000
const RUN_WITHIN_MS = 1_200_000
const SETTLE_WITHIN_MS = 120_000

/** One run from its seed. Never throws for what the broker does: that is a violation. */
export async function runSeed(seed: number, options: SeedOptions = {}): Promise<SeedResult> {
  const world = new World(seed, { keepTrace: options.keepTrace })
  const shape = shapeOf(world)
  const faults = new FaultCounts()
  const history = new History(shape.partitions)
  const bucket = new Bucket()
  const network: NetworkWeather = { cutBefore: 0, cutAfter: 0, slow: 0 }
  const wires = new PeerWires(world, faults)
  const pods = Array.from(
    { length: shape.pods },
    (_, i) =>
      new Pod({
        world,
        name: `pod${i}`,
        bucket,
        wires: shape.isLinked ? wires : null,
        shape: shape.broker,
        faults,
        stopped: (error) => {
          if (
            error.code !== 'STORE_IN_USE' &&
            error.code !== 'FENCED' &&
            error.code !== 'LOG_UNAVAILABLE' &&
            error.code !== 'CLOSED' &&
            error.code !== 'STORE_UNAVAILABLE'
          )
            history.wrong('error', `a pod stopped: ${error.code ?? 'a bug'} ${error.stack}`)
        },
      }),
  )
  const cluster: Cluster = {
    world,
    history,
    faults,
    network,
    peers: wires.weather,
    pods,
    topic: 'a',
    topicId: '',
    partitions: shape.partitions,
    operations: 0,
    draining: false,
  }
  let tableRows = 0
  let forgotten = 0
  const main = async (): Promise<void> => {
    for (const pod of pods) world.after(world.random() * 200, () => pod.start())
    await makeTopic(cluster, shape.topicConfigs)
    const nemesis = new Nemesis(cluster, options.kinds ?? FAULT_KINDS, shape.faultEveryMs)
    let producers = 0
    const clients: { run(): Promise<void> }[] = []
    for (let partition = 0; partition < shape.partitions; partition++) {
      for (let i = 0; i < shape.producersEach; i++) {
        const id = ++producers
        const producer: Producer = i % 3 === 2 ? new PlainProducer(cluster, id, partition) : new IdempotentProducer(cluster, id, partition)
        clients.push(producer)
      }
    }
    for (let i = 0; i < shape.transactional; i++) clients.push(new TransactionalProducer(cluster, ++producers))
    for (let i = 0; i < shape.consumers; i++) clients.push(new Consumer(cluster, i))
    for (let i = 0; i < 2; i++) clients.push(new Prober(cluster, i))
    const running = [nemesis, ...clients].map((one) => one.run())
    const limit = options.operations ?? OPERATIONS
    const fewest = options.operations === undefined && options.kinds === undefined ? FAULTS_MIN : 0
    while (cluster.operations < limit || faults.total < fewest) await world.sleep(50)
    cluster.draining = true
    world.note('the run drains')
    nemesis.mend()
    await within(world, SETTLE_WITHIN_MS, Promise.all(running), 'the clients cannot end')
    tableRows = await judge(cluster, bucket)
    const { nextIncarnation, incarnations } = pods[0]!.current!.broker!.engine.state.rooms.podRows
    forgotten = nextIncarnation - 1 - incarnations.size
  }
  try {
    await world.run(main(), RUN_WITHIN_MS)
  } catch (error) {
    history.wrong('stuck', (error as Error).stack ?? String(error))
  }
  return {
    seed,
    violations: history.violations,
    operations: cluster.operations,
    records: history.records,
    transactions: history.transactions,
    reads: history.reads,
    tableRows,
    forgotten,
    faults: faults.byKind,
    faultTotal: faults.total,
    turns: world.turns,
    simulatedMs: world.nowMs,
    digest: world.trace.digest,
    trace: world.trace.lines,
  }
}

async function makeTopic(cluster: Cluster, configs: Readonly<Record<string, string>>): Promise<void> {
  const { world, network, faults } = cluster
  const entries = Object.entries(configs).map(([name, value]) => ({ name, value }))
  const topics = [{ name: cluster.topic, numPartitions: cluster.partitions, replicationFactor: 1, assignments: [], configs: entries }]
  const request = { topics, timeoutMs: 5000, validateOnly: false }
  for (const untilMs = world.nowMs + START_WITHIN_MS; world.nowMs < untilMs;) {
    await world.sleep(50)
    const [running] = reachable(cluster)
    if (running === undefined) continue
    const connection = new Connection(world, running, network, faults)
    const reply = await connection.call(
      19,
      7,
      request,
      (response: { topics: { errorCode: number; topicId?: string }[] }) => response.topics[0],
    )
    connection.close()
    if (reply.kind === 'answer' && reply.value.errorCode === Errors.NONE) {
      cluster.topicId = reply.value.topicId!
      return
    }
  }
  throw new Error('the topic could not be made')
}

/** After everything was mended: each pod shows the same, complete log, and the table agrees. */
async function judge(cluster: Cluster, bucket: Bucket): Promise<number> {
  const { world } = cluster
  await until(
    world,
    () => cluster.pods.every((pod) => pod.processes.length === 1 && pod.current!.broker !== null && !pod.current!.isClosing),
    'the pods do not come back',
  )
  for (const pod of cluster.pods) await within(world, SETTLE_WITHIN_MS, readAll(cluster, pod.current!), 'the log cannot be read')
  // Then from a process that knows nothing.
  const [first] = cluster.pods
  first.kill(first.current!)
  first.start()
  await until(world, () => first.current?.broker != null, 'a fresh process does not start')
  const fresh: Running = first.current!
  await within(world, SETTLE_WITHIN_MS, readAll(cluster, fresh), 'the log cannot be read by a fresh process')
  await within(world, SETTLE_WITHIN_MS, readCommitted(cluster, fresh), 'what is committed cannot be read')
  judgeLog(cluster, fresh)
  const running = cluster.pods.map((pod) => pod.current!)
  const tidy = ({ broker }: Running): boolean => [...broker!.engine.state.fencedIncarnations()].length === 0
  await until(world, () => running.every(tidy), 'incarnations that were fenced stay in the state')
  for (const { broker } of running) await within(world, SETTLE_WITHIN_MS, broker!.engine.barrier(), 'a pod cannot reach the end of the log')
  judgeStates(cluster, running)
  return judgeTable(cluster, fresh, bucket)
}

async function until(world: World, done: () => boolean, what: string): Promise<void> {
  for (const untilMs = world.nowMs + SETTLE_WITHIN_MS; !done();) {
    if (world.nowMs > untilMs) throw new Error(what)
    await world.sleep(50)
  }
}

function within<T>(world: World, limitMs: number, work: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = world.after(limitMs, () => reject(new Error(what)))
    work.then(
      (value) => {
        timer.cancelled = true
        resolve(value)
      },
      (error: unknown) => {
        timer.cancelled = true
        reject(error as Error)
      },
    )
  })
}
