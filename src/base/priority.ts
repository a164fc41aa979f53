import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const NICE = 10
/** What V8 calls the threads that compile and mark for all isolates of a process. */
const V8_THREAD = 'V8Worker'

/** Never higher than the process was started with. */
const nice = (): number => Math.max(NICE, getPriority())

/**
 * Threads have a priority of their own on Linux alone; elsewhere, and in a sandbox that forbids it, nothing changes and
 * everything works all the same.
 */
function attempt(body: () => void): void {
  if (process.platform !== 'linux') return
  try {
    body()
  } catch {
    // the threads stay as they are
  }
}

/** Lowers the priority of the calling thread, for all that it does from now on. */
export function lowerPriority(): void {
  attempt(() => setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), nice()))
}

/**
 * Lowers the priority of V8's helpers. They compile for a conversion's thread and mark its garbage, which at their usual priority
 * takes a busy core from the event loop.
 */
export function lowerHelpersPriority(): void {
  attempt(() => {
    for (const thread of readdirSync('/proc/self/task')) {
      const lower = (): void => {
        if (readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim() === V8_THREAD) setPriority(Number(thread), nice())
      }
      attempt(lower) // a thread can have ended meanwhile
    }
  })
}
