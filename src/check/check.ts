import type { Logger } from '../base/log.ts'
import type { TableReader } from '../log/port.ts'
import type { EntryLog } from '../metadata/entryLog.ts'
import { State } from '../metadata/state/state.ts'
import type { ObjectStore } from '../storage/store.ts'
import { checkLog } from './log.ts'
import { checkOffsets } from './offsets.ts'
import { Report } from './report.ts'
import { checkTables } from './tables.ts'
import { checkWal } from './wal.ts'

export interface CheckOptions {
  readonly store: ObjectStore
  /** Opened; closed by the caller. */
  readonly log: EntryLog
  readonly logger: Logger
  /** Makes what reads rows of table files with their checksums, over this state; null: sizes only. */
  readonly reader: ((state: State) => TableReader) | null
  /** Write what is proven. */
  readonly repair: boolean
}

/** Verifies a store that no pod writes meanwhile. Errors: LOG_CORRUPT (a log that no pod could start from), REFUSED, STORE_…. */
export async function checkCluster({ store, log, logger, reader, repair }: CheckOptions): Promise<Report> {
  const report = new Report()
  const state = new State(await checkLog(log, logger, report, repair))
  checkOffsets(state, report)
  await checkWal(state, store, log, report)
  await checkTables(state, store, reader?.(state) ?? null, report)
  return report
}
