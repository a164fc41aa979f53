import type { Clock } from '../../base/clock.ts'
import type { LoadingRows } from '../../log/port.ts'
import { DecodedGroup, type GroupCache, READER_GONE_MS } from './cache.ts'

export interface LoadsOptions {
  readonly cache: GroupCache
  readonly clock: Clock
  /** Loads that run at a time. */
  readonly maxLoads: number
}

/** A row group that is to be loaded. */
export interface Wanted {
  readonly key: string
  /** Lower ones are loaded first: of partitions that lie in one file, none runs ahead of the others. */
  readonly order: number
  /** What it will take in memory, nearly. */
  readonly sizeBytes: number
  load(): Promise<DecodedGroup>
}

interface Load extends LoadingRows {
  readonly wanted: Wanted
  readonly partitions: Set<number>
  readonly listeners: Set<() => void>
  readonly result: Promise<DecodedGroup>
  readonly settle: (result: Promise<DecodedGroup> | null) => void
  readonly sinceMs: number
  askedMs: number
  isUrgent: boolean
  isLoading: boolean
}

/** Who has waited for this long is not passed by any more. */
const PATIENCE_MS = 1_000

/**
 * Who gets into memory next. As many row groups are loaded as fit beside those that are being read; the rest stand in
 * line until readers finish theirs. So each row group is decoded once, or little more, however many partitions are read
 * at the same time, and each has its turn.
 */
export class Loads {
  readonly #cache: GroupCache
  readonly #clock: Clock
  readonly #loads = new Map<string, Load>()
  readonly #failed = new Map<string, number>()
  #line: Load[] = []
  #free: number
  #reservedBytes = 0

  constructor(options: LoadsOptions) {
    this.#cache = options.cache
    this.#clock = options.clock
    this.#free = options.maxLoads
  }

  /** Asks for a row group on behalf of a partition. null: it failed just now, and `now` will say why. */
  ask(wanted: Wanted, partition: number): LoadingRows | null {
    const failedMs = this.#failed.get(wanted.key)
    this.#failed.delete(wanted.key)
    if (failedMs !== undefined && this.#clock.monotonicMs() - failedMs < READER_GONE_MS) return null
    const load = this.#join(wanted)
    load.partitions.add(partition)
    load.askedMs = this.#clock.monotonicMs()
    this.pump()
    return load
  }

  /** Loads a row group whatever room there is. */
  now(wanted: Wanted): Promise<DecodedGroup> {
    const load = this.#join(wanted)
    if (!load.isUrgent && !load.isLoading) {
      load.isUrgent = true
      this.pump()
    }
    return load.result
  }

  /** Begins what there is room for. */
  pump(): void {
    if (this.#line.length === 0 || this.#free === 0) return
    const nowMs = this.#clock.monotonicMs()
    const gone = this.#line.filter((load) => !load.isUrgent && nowMs - load.askedMs >= READER_GONE_MS)
    if (gone.length > 0) {
      this.#line = this.#line.filter((load) => !gone.includes(load))
      for (const load of gone) this.#end(load, null)
    }
    while (this.#line.length > 0 && this.#free > 0) {
      const next = this.#line.reduce((best, load) => (isBefore(load, best, nowMs) ? load : best))
      if (!next.isUrgent && !this.#cache.makeRoom(next.wanted.sizeBytes, this.#reservedBytes)) return
      this.#line.splice(this.#line.indexOf(next), 1)
      void this.#run(next)
    }
  }

  #join(wanted: Wanted): Load {
    const known = this.#loads.get(wanted.key)
    if (known !== undefined) return known
    const nowMs = this.#clock.monotonicMs()
    const listeners = new Set<() => void>()
    const { promise, resolve } = Promise.withResolvers<DecodedGroup>()
    const load: Load = {
      wanted,
      partitions: new Set(),
      listeners,
      result: promise,
      settle: (result) => {
        if (result !== null) resolve(result)
        for (const listener of listeners) listener()
      },
      whenReady: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      sinceMs: nowMs,
      askedMs: nowMs,
      isUrgent: false,
      isLoading: false,
    }
    this.#loads.set(wanted.key, load)
    this.#line.push(load)
    return load
  }

  async #run(load: Load): Promise<void> {
    const { key, sizeBytes } = load.wanted
    load.isLoading = true
    this.#free--
    this.#reservedBytes += sizeBytes
    const result = load.wanted.load()
    const group = await result.catch(() => null)
    this.#free++
    this.#reservedBytes -= sizeBytes
    if (group !== null) {
      const nowMs = this.#clock.monotonicMs()
      for (const partition of load.partitions) group.expect(partition, nowMs)
      this.#cache.set(key, group)
    } else if (!load.isUrgent) {
      if (this.#failed.size >= 1000) this.#failed.clear()
      this.#failed.set(key, this.#clock.monotonicMs())
    }
    this.#end(load, result)
    this.pump()
  }

  #end(load: Load, result: Promise<DecodedGroup> | null): void {
    this.#loads.delete(load.wanted.key)
    // whoever waits for the result meets the error; when nobody does, the next who asks will
    load.result.catch(() => {})
    load.settle(result)
  }
}

function isBefore(load: Load, other: Load, nowMs: number): boolean {
  if (load.isUrgent !== other.isUrgent) return load.isUrgent
  const waited = nowMs - load.sinceMs >= PATIENCE_MS
  if (waited !== nowMs - other.sinceMs >= PATIENCE_MS) return waited
  return waited ? load.sinceMs < other.sinceMs : load.wanted.order < other.wanted.order
}
