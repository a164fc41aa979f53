import { FrazilError, type ErrorCode } from '../../base/errors.ts'
import { systemCode } from '../failures.ts'

/** What a failed attempt means. */
export interface S3Failure {
  /** The S3 error code (`PreconditionFailed`), a system code (`ECONNRESET`) or the error's name. */
  readonly name: string
  readonly status: number
  /** 'unknown': a write may have taken effect, now or later. */
  readonly effect: 'none' | 'unknown'
  readonly retry: boolean
  /** The store asks for fewer requests. */
  readonly throttle: boolean
  readonly code: ErrorCode
  /** What a human reads, and what to do. */
  readonly sentence: string
  readonly cause: unknown
}

type Kind = Pick<S3Failure, 'effect' | 'retry' | 'throttle' | 'code'>

const REFUSED: Kind = { effect: 'none', retry: false, throttle: false, code: 'STORE_UNAVAILABLE' }
const PASSING: Kind = { effect: 'none', retry: true, throttle: false, code: 'STORE_UNAVAILABLE' }
const THROTTLED: Kind = { effect: 'none', retry: true, throttle: true, code: 'STORE_UNAVAILABLE' }
const DOUBT: Kind = { effect: 'unknown', retry: true, throttle: false, code: 'STORE_UNAVAILABLE' }
const BUSY: Kind = { effect: 'unknown', retry: true, throttle: true, code: 'STORE_UNAVAILABLE' }
const FULL: Kind = { effect: 'none', retry: false, throttle: false, code: 'STORE_FULL' }

/** By S3 error code, system error code, or name of an SDK error; the sentence where the cause is the operator's to mend. */
const KNOWN: Readonly<Record<string, readonly [Kind, string?]>> = {
  NoSuchKey: [{ ...REFUSED, code: 'STORE_NOT_FOUND' }],
  NotFound: [{ ...REFUSED, code: 'STORE_NOT_FOUND' }],
  PreconditionFailed: [REFUSED],
  NoSuchUpload: [REFUSED, 'the upload is gone: it was given up, or a lifecycle rule of the bucket ended it'],
  NoSuchBucket: [REFUSED, 'there is no such bucket: create it, or correct the setting'],
  AccessDenied: [REFUSED, 'access is denied: give these credentials the policy of docs/OPERATIONS.md'],
  AllAccessDisabled: [REFUSED, 'access to the bucket is disabled'],
  XAdminUserNotFound: [REFUSED, 'the access key is unknown to the store: check AWS_ACCESS_KEY_ID'], // VersityGW
  Forbidden: [REFUSED, 'access is denied: give these credentials the policy of docs/OPERATIONS.md'],
  InvalidAccessKeyId: [REFUSED, 'the access key is unknown to the store: check AWS_ACCESS_KEY_ID'],
  SignatureDoesNotMatch: [REFUSED, 'the signature is wrong: check AWS_SECRET_ACCESS_KEY'],
  ExpiredToken: [REFUSED, 'the session token has expired'],
  InvalidToken: [REFUSED, 'the session token is not valid'],
  RequestTimeTooSkewed: [PASSING, 'the clock of this machine is too far from that of the store: set it'],
  RequestExpired: [PASSING, 'the clock of this machine is too far from that of the store: set it'],
  PermanentRedirect: [REFUSED, 'the bucket lies in another region: set AWS_REGION'],
  AuthorizationHeaderMalformed: [REFUSED, 'the bucket lies in another region: set AWS_REGION'],
  IllegalLocationConstraintException: [REFUSED, 'the bucket lies in another region: set AWS_REGION'],
  InvalidObjectState: [REFUSED, 'the object was archived: a lifecycle rule of the bucket must not move objects to Glacier'],
  CredentialsProviderError: [
    REFUSED,
    'there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile, or a role of the machine',
  ],
  QuotaExceeded: [FULL, 'the quota is used up'],
  XMinioStorageFull: [FULL, 'no space is left'],
  InsufficientStorage: [FULL, 'no space is left'],
  SlowDown: [THROTTLED, 'the store asks for fewer requests'],
  TooManyRequests: [THROTTLED, 'the store asks for fewer requests'],
  RequestLimitExceeded: [THROTTLED, 'the store asks for fewer requests'],
  ThrottlingException: [THROTTLED, 'the store asks for fewer requests'],
  // Another conditional write of this key is under way (S3 user guide, conditional writes): nothing happened.
  ConditionalRequestConflict: [PASSING, 'others write the same key'],
  OperationAborted: [PASSING, 'others write the same key'],
  RequestTimeout: [PASSING, 'the store did not get the request in time'],
  BadDigest: [PASSING, 'bytes changed on their way to the store'],
  InvalidDigest: [PASSING, 'bytes changed on their way to the store'],
  XAmzContentChecksumMismatch: [PASSING, 'bytes changed on their way to the store'],
  IncompleteBody: [PASSING, 'the store did not get the whole request'],
  ECONNREFUSED: [PASSING, 'the store does not accept connections: is it running, and is the endpoint right?'],
  ENOTFOUND: [PASSING, 'the name of the store is not known: check the endpoint, region and bucket'],
  EAI_AGAIN: [PASSING, 'the name of the store cannot be looked up'],
  EHOSTUNREACH: [PASSING, 'the store cannot be reached'],
  ENETUNREACH: [PASSING, 'the store cannot be reached'],
  ECONNRESET: [DOUBT, 'the store closed the connection'],
  EPIPE: [DOUBT, 'the store closed the connection'],
  ETIMEDOUT: [DOUBT, 'the store did not answer in time'],
  TimeoutError: [DOUBT, 'the store did not answer in time'],
  AbortError: [DOUBT, 'the store did not answer in time'],
}

interface SdkError {
  readonly name?: string
  readonly Code?: string
  readonly message?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
  readonly $response?: { readonly statusCode?: number }
  readonly cause?: unknown
}

/** Sorts what a request of the SDK threw. */
export function classify(error: unknown): S3Failure {
  const given = (error ?? {}) as SdkError
  const status = given.$metadata?.httpStatusCode ?? given.$response?.statusCode ?? 0
  const names = [given.Code, systemCode(error), given.name, systemCode(given.cause)].filter((one) => one !== undefined && one !== '')
  const name = names.find((one) => Object.hasOwn(KNOWN, one!)) ?? names[0] ?? 'Error'
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
  const kind = known?.[0] ?? byStatus(status)
  const detail = given.message === undefined || given.message === '' || given.message === name ? '' : `: ${given.message.slice(0, 300)}`
  const shown = status === 0 ? name : `${name}, status ${status}`
  return { name, status, ...kind, sentence: `${known?.[1] ?? `the store failed${detail}`} (${shown})`, cause: error }
}

/** A 404 of an unknown code is some server on the way, or a wrong endpoint: nothing that says that an object is absent. */
function byStatus(status: number): Kind {
  switch (status) {
    case 409:
    case 408:
    case 425:
      return PASSING
    case 429:
      return THROTTLED
    case 503:
      return BUSY
    case 507:
      return FULL
    default:
      // No answer (0), or one that was not understood: a proxy may have sent the request on before it gave up.
      return status >= 500 || status < 400 ? DOUBT : REFUSED
  }
}

/** The error that leaves the store; `doubt` when an attempt of a write may have taken effect. */
export function storeError(failure: S3Failure, what: string, doubt: boolean): FrazilError {
  return new FrazilError(doubt ? 'STORE_UNKNOWN' : failure.code, `${what}: ${failure.sentence}`, failure.cause)
}
