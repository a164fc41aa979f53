import { FrazilError, type ErrorCode } from '../../../src/base/errors.ts'
import type { Bucket } from './bucket.ts'
import type { Body, ByteRange, GetResult, MultipartUpload, ObjectInfo, ObjectStore, Options } from '../../../src/storage/store.ts'
import type { FaultCounts } from './faults.ts'
import type { Process } from './process.ts'

/** How the store treats requests now; the nemesis changes it. */
export interface StoreWeather {
  /** Probabilities of one request. */
  errorBefore: number
  lostAnswer: number
  lateEffect: number
  slow: number
  /** Every request fails before it takes effect, as a store that says 503. */
  throttled: boolean
}

export function fairWeather(): StoreWeather {
  return { errorBefore: 0, lostAnswer: 0, lateEffect: 0, slow: 0, throttled: false }
}

const PUT_MS = 12
const GET_MS = 5
const SLOW_MS = 1500
const LATE_MS = 400

type Kind = 'put' | 'get' | 'head' | 'list' | 'delete'

/**
 * The bucket as one process reaches it over the network. A request takes effect at one instant, whether or not the process
 * lives to see the answer; an answer may be lost, and a request that was given up may take effect later.
 */
export class ProcessStore implements ObjectStore {
  readonly #process: Process
  readonly #bucket: Bucket
  readonly #weather: StoreWeather
  readonly #faults: FaultCounts

  constructor(process: Process, bucket: Bucket, weather: StoreWeather, faults: FaultCounts) {
    this.#process = process
    this.#bucket = bucket
    this.#weather = weather
    this.#faults = faults
  }

  put(key: string, body: Body): Promise<ObjectInfo> {
    const bytes = copied(body)
    return this.#request('put', key, () => this.#bucket.put(key, bytes))
  }

  putIfAbsent(key: string, body: Body): Promise<ObjectInfo | null> {
    const bytes = copied(body)
    return this.#request('put', key, () => this.#bucket.putIfAbsent(key, bytes))
  }

  putIfMatch(key: string, body: Body, etag: string): Promise<ObjectInfo | null> {
    const bytes = copied(body)
    return this.#request('put', key, () => this.#bucket.putIfMatch(key, bytes, etag))
  }

  get(key: string): Promise<GetResult> {
    return this.#request('get', key, () => this.#bucket.get(key))
  }

  getRange(key: string, range: ByteRange): Promise<GetResult> {
    return this.#request('get', key, () => this.#bucket.get(key, range))
  }

  head(key: string): Promise<ObjectInfo | null> {
    return this.#request('head', key, () => this.#bucket.head(key))
  }

  async *list(prefix: string, options?: Options & { readonly startAfter?: string }): AsyncGenerator<ObjectInfo> {
    yield* await this.#request('list', prefix, () => this.#bucket.list(prefix, options?.startAfter))
  }

  delete(keys: readonly string[]): Promise<readonly { readonly key: string; readonly error: Error }[]> {
    return this.#request('delete', keys.join(' '), () => {
      this.#bucket.delete(keys)
      return []
    })
  }

  multipart(key: string): Promise<MultipartUpload> {
    return Promise.reject(new FrazilError('LIMIT', `${key}: objects of the simulation are small`))
  }

  uri(key: string): string {
    return this.#bucket.uri(key)
  }

  keyOf(uri: string): string | null {
    return this.#bucket.keyOf(uri)
  }

  async close(): Promise<void> {}

  #request<T>(kind: Kind, key: string, effect: () => T): Promise<T> {
    const { world } = this.#process
    const weather = this.#weather
    const faults = this.#faults
    // Always the same number of draws, so that one kind of fault does not shift the others.
    const draws = [world.random(), world.random(), world.random(), world.random()]
    let toMs = world.delay(kind === 'put' ? PUT_MS : GET_MS)
    const backMs = world.delay(GET_MS / 2)
    if (draws[0] < weather.slow) {
      toMs += world.random() * SLOW_MS
      faults.count('store slow')
    }
    const write = kind === 'put'
    return new Promise<T>((resolve, reject) => {
      const answer = (delayMs: number, settle: () => void): void => void world.after(delayMs, () => this.#process.deliver(settle))
      const fail = (delayMs: number, code: ErrorCode, fault: string): void => {
        world.note(`${this.#process.name} ${kind} ${key}: ${code} (${fault})`)
        answer(delayMs, () => reject(new FrazilError(code, `the store failed a ${kind} of ${key}`)))
      }
      if (weather.throttled || draws[1] < weather.errorBefore) {
        faults.count(weather.throttled ? 'store throttled' : 'store failed before')
        return fail(toMs + backMs, 'STORE_UNAVAILABLE', 'before')
      }
      const lost: ErrorCode = write ? 'STORE_UNKNOWN' : 'STORE_UNAVAILABLE'
      if ((write || kind === 'delete') && draws[2] < weather.lateEffect) {
        faults.count('store applied late')
        fail(toMs, lost, 'late')
        world.after(toMs + LATE_MS * (0.1 + draws[3] * 20), () => void effect())
        return
      }
      world.after(toMs, () => {
        const isLost = draws[2] >= weather.lateEffect && draws[3] < weather.lostAnswer
        let value: T
        try {
          value = effect()
        } catch (error) {
          world.note(`${this.#process.name} ${kind} ${key}: ${(error as FrazilError).code}`)
          return answer(backMs, () => reject(error as Error))
        }
        if (isLost) {
          faults.count('store answer lost')
          return fail(backMs, lost, 'after')
        }
        world.note(`${this.#process.name} ${kind} ${key}${value === null ? ': no' : ''}`)
        answer(backMs, () => resolve(value))
      })
    })
  }
}

/** As a socket would have taken it by now. */
function copied(body: Body): Buffer {
  return Buffer.concat(body instanceof Uint8Array ? [body] : body)
}
