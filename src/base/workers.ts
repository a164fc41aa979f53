import { Worker, parentPort, workerData, type Transferable } from 'node:worker_threads'
import { FrazilError, type ErrorCode } from './errors.ts'

const BACKGROUND = new URL('./backgroundWorker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)

/** What a worker of low priority is started with. */
export interface Background {
  readonly background: string
  readonly data: unknown
}

/** A message that ends a worker. */
const END = 'end'

interface Job {
  readonly task: unknown
  readonly transfer: readonly Transferable[]
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface Reply {
  readonly value?: unknown
  readonly failure?: { readonly code: ErrorCode; readonly message: string }
}

/** What runs tasks off the event loop: a `WorkerPool`, or what a simulation puts in its place. */
export type TaskRunner = Pick<WorkerPool, 'run' | 'warm' | 'close'>

/**
 * A fixed number of worker threads that run one task at a time each. Workers start on first use and keep the process
 * alive only while a task runs. A worker that dies fails its task with STORE_UNAVAILABLE and is replaced.
 */
export class WorkerPool {
  readonly #url: URL
  readonly #size: number
  readonly #data: unknown
  readonly #background: boolean
  readonly #idle: Worker[] = []
  readonly #queue: Job[] = []
  readonly #running = new Map<Worker, Job>()
  #closed = false

  constructor(url: URL, options: { readonly size: number; readonly data?: unknown; readonly background?: boolean }) {
    this.#url = url
    this.#size = Math.max(1, options.size)
    this.#data = options.data
    this.#background = options.background ?? false
  }

  /** Tasks waiting for a worker. */
  get queued(): number {
    return this.#queue.length
  }

  /** Tasks running now. */
  get running(): number {
    return this.#running.size
  }

  /** Starts a worker ahead of the first task, which then does not wait for one. */
  warm(): void {
    if (this.#closed || this.#idle.length + this.#running.size > 0) return
    const worker = this.#start()
    worker.unref()
    this.#idle.push(worker)
  }

  /** Runs a task; rejects with the FrazilError that the worker's handler threw. */
  run<T>(task: unknown, transfer: readonly Transferable[] = []): Promise<T> {
    if (this.#closed) return Promise.reject(new FrazilError('CLOSED', 'the worker pool is closed'))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ task, transfer, resolve: resolve as (value: unknown) => void, reject })
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const job of this.#queue.splice(0)) job.reject(new FrazilError('CLOSED', 'the worker pool is closed'))
    // an idle worker ends by itself: ending it from outside may meet V8 in the middle of something
    const ended = this.#idle.map((worker) => new Promise<void>((resolve) => worker.once('exit', () => resolve())))
    for (const worker of this.#idle) {
      worker.ref()
      worker.postMessage(END, [])
    }
    await Promise.all([...ended, ...Array.from(this.#running.keys(), (worker) => worker.terminate())])
  }

  #next(): void {
    while (this.#queue.length > 0) {
      const worker = this.#idle.pop() ?? (this.#running.size < this.#size ? this.#start() : null)
      if (worker === null) return
      const job = this.#queue.shift()!
      this.#running.set(worker, job)
      worker.ref()
      try {
        worker.postMessage(job.task, job.transfer as Transferable[])
      } catch (error) {
        this.#finish(worker)
        job.reject(error)
      }
    }
  }

  #start(): Worker {
    const worker = this.#background
      ? new Worker(BACKGROUND, { workerData: { background: this.#url.href, data: this.#data } satisfies Background })
      : new Worker(this.#url, { workerData: this.#data })
    worker.on('message', (reply: Reply) => {
      const job = this.#running.get(worker)
      this.#finish(worker)
      if (job === undefined) return
      if (reply.failure) job.reject(new FrazilError(reply.failure.code, reply.failure.message))
      else job.resolve(reply.value)
    })
    const died = (error: unknown): void => {
      const job = this.#running.get(worker)
      this.#running.delete(worker)
      const at = this.#idle.indexOf(worker)
      if (at >= 0) this.#idle.splice(at, 1)
      job?.reject(
        this.#closed
          ? new FrazilError('CLOSED', 'the worker pool is closed')
          : new FrazilError('STORE_UNAVAILABLE', 'a worker thread died', error),
      )
      if (!this.#closed) this.#next()
    }
    worker.on('error', died)
    worker.on('exit', (code) => died(new Error(`exit code ${code}`)))
    return worker
  }

  #finish(worker: Worker): void {
    this.#running.delete(worker)
    worker.unref()
    if (this.#closed) return
    this.#idle.push(worker)
    this.#next()
  }
}

/** Inside a worker: answers each task with what `handler` returns; `transfer` of the answer is moved, not copied. */
export function serveTasks(
  handler: (task: never, data: never) => Promise<{ readonly value: unknown; readonly transfer?: readonly Transferable[] }>,
): void {
  const port = parentPort
  if (port === null) throw new FrazilError('REFUSED', 'serveTasks runs in worker threads only')
  const started = workerData as Background | null | undefined
  const data = typeof started?.background === 'string' ? started.data : workerData
  port.on('message', (task: unknown) => {
    if (task === END) return port.close()
    handler(task as never, data as never).then(
      ({ value, transfer }) => port.postMessage({ value } satisfies Reply, (transfer ?? []) as Transferable[]),
      (error: unknown) => {
        const failure =
          error instanceof FrazilError ? { code: error.code, message: error.message } : { code: 'CORRUPT' as const, message: String(error) }
        port.postMessage({ failure } satisfies Reply)
      },
    )
  })
}
