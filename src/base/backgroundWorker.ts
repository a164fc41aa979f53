import { readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import { workerData } from 'node:worker_threads'
import type { Background } from './workers.ts'

const NICE = 10

/**
 * Starts a worker at low priority, its module's own loading included: on a busy machine produce and fetch then go before
 * conversion, merging and snapshots. Threads have a priority of their own on Linux alone; elsewhere nothing changes.
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICE)
  } catch {
    // a sandbox that forbids it: the thread works all the same
  }
}

lowerPriority()
await import((workerData as Background).background)
