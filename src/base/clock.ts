/** A running timer; `cancel` is idempotent. */
export interface Timer {
  cancel(): void
}

/**
 * Time as a parameter, so that a simulation can own it. Wall time serves display and long retention only (L6);
 * silence and waits are measured on the monotonic clock.
 */
export interface Clock {
  /** Milliseconds since 1970, as an integer. */
  wallMs(): number
  /** Milliseconds on a clock that never goes back; fractional. */
  monotonicMs(): number
  /** Runs `fn` once after `delayMs`. Timers do not keep the process alive. */
  timer(delayMs: number, fn: () => void): Timer
  /** Resolves after `delayMs`, or at once when `signal` aborts. Never rejects. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  timer(delayMs, fn) {
    const handle = setTimeout(fn, Math.min(delayMs, 0x7fffffff))
    handle.unref()
    return { cancel: () => clearTimeout(handle) }
  },
  sleep(delayMs, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = (): void => {
        clearTimeout(handle)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const handle = setTimeout(done, Math.min(delayMs, 0x7fffffff))
      signal?.addEventListener('abort', done)
    })
  },
}
