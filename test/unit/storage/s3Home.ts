import { systemClock, type Clock } from '../../../src/base/clock.ts'
import { seededRandom } from '../../../src/base/random.ts'
import { S3Store, type S3StoreOptions } from '../../../src/storage/s3/store.ts'
import type { S3Spec } from '../../../src/storage/store.ts'
import type { FakeS3, S3Fault, S3Request } from '../../lib/fakeS3.ts'

/** Waits before a repeated request pass quickly; time limits are real. */
const hurried: Clock = { ...systemClock, sleep: (delayMs, signal) => systemClock.sleep(delayMs / 20, signal) }

/** A place in a fake bucket. */
export function s3Spec(fake: FakeS3, prefix = ''): S3Spec {
  process.env['AWS_ACCESS_KEY_ID'] ??= 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] ??= 'test'
  return { kind: 's3', bucket: 'bucket', prefix, endpoint: fake.endpoint, region: 'us-east-1', pathStyle: true }
}

export function s3Store(fake: FakeS3, options: Partial<S3StoreOptions> = {}): S3Store {
  return new S3Store({ spec: s3Spec(fake), clock: hurried, random: seededRandom(1), ...options })
}

/**
 * Every kind of trouble now and then, from a seed: one request in eight. A replacement's answer is not lost: with others
 * that replace too, its outcome can stay unknown, which the suite's callers do not expect.
 */
export function trouble(seed: number): (request: S3Request) => S3Fault | null {
  const random = seededRandom(seed)
  return ({ headers }) => {
    const [draw, kind] = [random(), Math.floor(random() * 7)]
    if (draw > 1 / 8) return null
    const conditional = headers['if-match'] !== undefined || headers['if-none-match'] !== undefined
    const faults: readonly S3Fault[] = [
      { status: 503, code: 'SlowDown' },
      { status: 500, code: 'InternalError' },
      conditional ? { status: 409, code: 'ConditionalRequestConflict' } : { status: 502, code: 'BadGateway' },
      { cut: 'before' },
      { cut: 'after' },
      { cut: 'after' },
      { half: true },
    ]
    return headers['if-match'] === undefined ? faults[kind] : faults[kind % 2 === 0 ? 0 : 2]
  }
}

/** Faults of the next requests, one each; then none. */
export function inTurn(...faults: readonly (S3Fault | null)[]): (request: S3Request) => S3Fault | null {
  const left = [...faults]
  return () => left.shift() ?? null
}
