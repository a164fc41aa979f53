import { Registry } from 'prom-client'
import { systemClock } from '../../../src/base/clock.ts'
import type { FrazilError } from '../../../src/base/errors.ts'
import { silentLogger } from '../../../src/base/log.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { SUPPORTED_LEVEL } from '../../../src/metadata/apply/pods.ts'
import type { MetadataEngine } from '../../../src/metadata/engine.ts'
import { openMetadata, raiseLevel } from '../../../src/metadata/open.ts'
import { Pods } from '../../../src/pods/pods.ts'
import type { PodTimings } from '../../../src/pods/port.ts'
import { testRandom } from '../metadata/helpers.ts'
import { MemoryDisk, MemoryLog } from '../metadata/memoryLog.ts'
import { Wires } from './network.ts'

export const FAST: PodTimings = {
  heartbeatMs: 20,
  suspectBeats: 3,
  renewMs: 100,
  expireRenewals: 3,
  forwardMs: 2000,
  readMs: 200,
  balanceMs: 25,
  forgetMs: 200,
}

export interface TestPod {
  readonly metadata: MetadataEngine
  readonly log: MemoryLog
  readonly pods: Pods
  readonly address: string
  stopped: FrazilError | null
}

/** Several pods on one log in memory, with links in memory. */
export class Cluster {
  readonly disk = new MemoryDisk()
  readonly wires = new Wires()
  readonly pods: TestPod[] = []
  #seed = 1

  /** Opens a pod; `join` false leaves it before it announces itself. */
  async start(
    name: string,
    more: { readonly rack?: string; readonly level?: number; readonly join?: boolean; readonly timings?: Partial<PodTimings> } = {},
  ): Promise<TestPod> {
    const log = new MemoryLog(this.disk)
    const level = more.level ?? SUPPORTED_LEVEL
    let made: TestPod | null = null
    const metadata = await openMetadata({
      log,
      clock: systemClock,
      logger: silentLogger,
      registry: new Registry(),
      pod: name,
      random: testRandom,
      fenceOlder: false,
      level,
      onStop: (error) => made !== null && (made.stopped = error),
    })
    const network = this.wires.network()
    const pods = new Pods({
      metadata,
      raiseLevel: () => raiseLevel(metadata, level),
      pod: name,
      network,
      clock: systemClock,
      logger: silentLogger,
      registry: new Registry(),
      random: seededRandom(this.#seed++),
      cached: (object, start, end) => (object === 7 ? Buffer.from('0123456789').subarray(start, end) : null),
      timings: { ...FAST, ...more.timings },
    })
    made = { metadata, log, pods, address: network.address, stopped: null }
    this.pods.push(made)
    await pods.claim()
    if (more.join !== false) await pods.join({ listeners: [{ name: 'PLAINTEXT', host: name, port: 9092 }], rack: more.rack ?? '' })
    return made
  }

  /** As kill -9: nothing more comes from it. */
  async kill(pod: TestPod): Promise<void> {
    this.pods.splice(this.pods.indexOf(pod), 1)
    pod.log.beforeAppend = () => new Promise(() => {})
    this.wires.cut(pod.address)
    await pod.pods.close()
  }

  async close(): Promise<void> {
    for (const { pods, metadata } of this.pods) {
      await pods.close()
      await metadata.close()
    }
  }
}

/** Waits, bounded, for what must come. */
export async function until(done: () => boolean, what = 'it'): Promise<void> {
  for (let i = 0; i < 2000 && !done(); i++) await systemClock.sleep(5)
  if (!done()) throw new Error(`${what} did not happen`)
}
