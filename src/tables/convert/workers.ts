import { WorkerPool } from '../../base/workers.ts'
import type { ObjectStore, StoreSpec } from '../../storage/store.ts'
import type { EncodeTask, FileResult, WorkerData } from './tasks.ts'

/** The published package holds .js beside what are .ts files here. */
const WORKER = new URL('./worker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)

export interface TableWorkersOptions {
  readonly size: number
  readonly store: ObjectStore
  readonly spec: StoreSpec
}

/** What writes table files. */
export interface Encoders {
  /** Writes one file and uploads it; the task's bytes are taken over. Errors: CORRUPT, STORE_…, CLOSED. */
  encode(task: EncodeTask): Promise<FileResult>
  close(): Promise<void>
}

/** Threads that write table files and upload them. */
export class TableWorkers implements Encoders {
  readonly #pool: WorkerPool
  readonly #store: ObjectStore

  constructor(options: TableWorkersOptions) {
    const data: WorkerData = { store: options.spec.kind === 'memory' ? null : options.spec }
    this.#pool = new WorkerPool(WORKER, { size: options.size, data })
    this.#store = options.store
  }

  async encode(task: EncodeTask): Promise<FileResult> {
    return this.#placed(await this.#pool.run<FileResult>(task, [task.bytes]))
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** Uploads what a worker without a store handed back. */
  async #placed(result: FileResult): Promise<FileResult> {
    if (result.body === null || result.rows === 0) return result
    await this.#store.put(result.key, result.body, { reason: 'convert' })
    return { ...result, body: null }
  }
}
