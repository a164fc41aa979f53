import { WorkerPool } from '../../base/workers.ts'
import { checkpointRows, decodeCheckpoint, encodeCheckpoint, type CheckpointContent } from './checkpoint.ts'

export type CheckpointTask =
  { readonly kind: 'write'; readonly content: CheckpointContent } | { readonly kind: 'read'; readonly bytes: Uint8Array }

/** The published package holds .js beside what are .ts files here. */
const WORKER = new URL('./worker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)
/** Below these a checkpoint takes a few milliseconds; what is larger leaves the event loop. */
const INLINE_ROWS = 200
const INLINE_BYTES = 32 * 1024

/** Makes and reads checkpoints; large ones in a thread, which is started by the first of them. */
export class Checkpoints {
  #pool: WorkerPool | null = null

  async write(content: CheckpointContent): Promise<Uint8Array> {
    if (checkpointRows(content) <= INLINE_ROWS) return encodeCheckpoint(content)
    return this.#run<Uint8Array>({ kind: 'write', content })
  }

  async read(bytes: Uint8Array): Promise<readonly Record<string, object>[]> {
    if (bytes.length <= INLINE_BYTES) return decodeCheckpoint(bytes)
    return this.#run({ kind: 'read', bytes })
  }

  async close(): Promise<void> {
    await this.#pool?.close()
  }

  #run<T>(task: CheckpointTask): Promise<T> {
    this.#pool ??= new WorkerPool(WORKER, { size: 1, background: true })
    return this.#pool.run<T>(task)
  }
}
