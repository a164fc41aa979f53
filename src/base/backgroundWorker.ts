import { workerData } from 'node:worker_threads'
import { lowerPriority } from './priority.ts'
import type { Background } from './workers.ts'

/**
 * Starts a worker at low priority, its module's own loading included: on a busy machine produce and fetch then go before
 * conversion, merging and snapshots.
 */
lowerPriority()
await import((workerData as Background).background)
