import { WorkerPool } from '../../base/workers.ts'
import type { StoreMetrics } from '../../storage/metrics.ts'
import type { StoreSpec } from '../../storage/store.ts'
import type { ChunkPool } from './chunks.ts'
import type { EncodeTask, FileResult, MergeTask, WorkerAnswer, WorkerData } from './tasks.ts'

/** The published package holds .js beside what are .ts files here. */
const WORKER = new URL('./worker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)

/** What writes table files. */
export interface Encoders {
  /** Writes one file and uploads it; the task's chunks are taken over. Errors: CORRUPT, STORE_…, CLOSED. */
  encode(task: EncodeTask): Promise<FileResult>
  /** Merges files into one and uploads it. Errors: likewise. */
  merge(task: MergeTask): Promise<FileResult>
  close(): Promise<void>
}

/** Threads that write table files, each with a store of its own. */
export class TableWorkers implements Encoders {
  readonly #pool: WorkerPool
  readonly #metrics: StoreMetrics | undefined
  readonly #chunks: ChunkPool | undefined

  /** `metrics` count what the threads ask of their stores; `chunks` gets back the memory of tasks that are done. */
  constructor(options: { readonly size: number; readonly spec: StoreSpec; readonly metrics?: StoreMetrics; readonly chunks?: ChunkPool }) {
    this.#metrics = options.metrics
    this.#chunks = options.chunks
    this.#pool = new WorkerPool(WORKER, { size: options.size, background: true, data: { store: options.spec } satisfies WorkerData })
  }

  encode(task: EncodeTask): Promise<FileResult> {
    return this.#run(task, task.chunks)
  }

  merge(task: MergeTask): Promise<FileResult> {
    return this.#run(task, [])
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  async #run(task: EncodeTask | MergeTask, transfer: readonly ArrayBuffer[]): Promise<FileResult> {
    const { file, requests, chunks } = await this.#pool.run<WorkerAnswer>(task, transfer)
    for (const one of requests) this.#metrics?.count(one.kind, one.reason, one.requests)
    this.#chunks?.give(chunks)
    return file
  }
}
