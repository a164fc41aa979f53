import { randomUUID } from 'node:crypto'
import { Registry } from 'prom-client'
import { systemClock } from '../base/clock.ts'
import type { Settings } from '../base/config/settings.ts'
import { FrazilError } from '../base/errors.ts'
import { checkCluster } from '../check/check.ts'
import type { Report } from '../check/report.ts'
import type { State } from '../metadata/state/state.ts'
import { StoreMetrics } from '../storage/metrics.ts'
import { FileTableReader } from '../tables/readback/reader.ts'
import { Typings } from '../tables/typed/typings.ts'
import { openStores } from '../wiring/stores.ts'
import { makeLogger } from './logger.ts'

/** `frazil check`: prints what it found; 0 when nothing is damaged, else 1. */
export async function check(settings: Settings, options: { readonly repair: boolean; readonly quick: boolean }): Promise<number> {
  const logger = makeLogger(settings.logLevel)
  const registry = new Registry()
  const clock = systemClock
  const stores = await openStores({ settings, clock, logger, metrics: new StoreMetrics(registry), environment: process.env })
  const { store, log } = stores
  const readers: FileTableReader[] = []
  const reader = (state: State): FileTableReader => {
    const propose = (): Promise<never> => Promise.reject(new FrazilError('REFUSED', 'a check proposes nothing'))
    const typings = new Typings({ store, metadata: { state, propose }, uuid: randomUUID })
    const { tableCacheBytes: cacheBytes, readWorkers: workers } = settings
    const made = new FileTableReader({ store, clock, registry, typings, cacheBytes, workers })
    readers.push(made)
    return made
  }
  try {
    await log.open()
    const report = await checkCluster({ store, log, logger, reader: options.quick ? null : reader, repair: options.repair })
    process.stdout.write(textOf(report))
    return report.whole ? 0 : 1
  } finally {
    await Promise.all(readers.map((one) => one.close()))
    await log.close()
    await stores.close()
  }
}

const WORDS = { lost: 'DAMAGED', left: 'left over', repaired: 'repaired' } as const

function textOf(report: Report): string {
  const lines = [...report.counts].map(([what, count]) => `${String(count).padStart(14)}  ${what}`)
  for (const { kind, sentence } of report.findings) lines.push(`${WORDS[kind]}: ${sentence}`)
  if (report.more > 0) lines.push(`… and ${report.more} more`)
  lines.push(report.whole ? 'nothing is damaged' : 'this store is damaged: what each line names needs a backup or a version of the bucket')
  return `${lines.join('\n')}\n`
}
