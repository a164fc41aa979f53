import { randomBytes } from 'node:crypto'
import { Registry } from 'prom-client'
import { systemClock } from '../base/clock.ts'
import type { Settings } from '../base/config/settings.ts'
import { leapAhead, settleCopy } from '../metadata/logs/storeCopy.ts'
import { openTimeline } from '../metadata/timeline.ts'
import { StoreMetrics } from '../storage/metrics.ts'
import { openStores } from '../wiring/stores.ts'
import { makeLogger } from './logger.ts'

/** Three renewals of an incarnation: a pod that lives writes at least one entry in that time. */
const WATCH_MS = 30_000

/** `frazil restore`: makes a copy of a store a cluster of its own (L9), and prints what it holds. */
export async function restore(settings: Settings): Promise<void> {
  const logger = makeLogger(settings.logLevel)
  const clock = systemClock
  const stores = await openStores({ settings, clock, logger, metrics: new StoreMetrics(new Registry()), environment: process.env })
  const { log, logStore } = stores
  try {
    if (logStore !== null) await settleCopy(logStore)
    await log.open()
    const { rooms, lastEntry, lastTimeMs } = await openTimeline({ log, clock, logger, random: randomBytes, watchMs: WATCH_MS })
    if (logStore !== null) await leapAhead(logStore, rooms)
    await stores.forget()
    await stores.settle(rooms.clusterId)
    const topics = rooms.topicRows.byNumber.size
    process.stdout.write(
      `restored as it was after metadata entry ${lastEntry}, ${new Date(lastTimeMs).toISOString()}: ${topics} topics\n` +
        `this is the cluster ${rooms.clusterId}, timeline ${rooms.timeline}; run frazil check, then start pods here\n`,
    )
  } finally {
    await log.close()
    await stores.close()
  }
}
