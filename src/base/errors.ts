/** The closed list of codes that an error of ours may carry. A bare Error never crosses a room's border. */
export type ErrorCode =
  | 'SETTING_INVALID' // a setting has a wrong value: one sentence, exit 1
  | 'STORE_NOT_FOUND' // the key does not exist
  | 'STORE_UNAVAILABLE' // the store failed; the request had no effect, or its effect does not matter; retry
  | 'STORE_UNKNOWN' // the store failed and nobody knows whether the request took effect: read back
  | 'STORE_FULL' // no space left
  | 'STORE_IN_USE' // the folder belongs to another running process
  | 'LOG_CONFLICT' // another writer created this entry
  | 'LOG_CORRUPT' // a chain that cannot be followed, a bad entry of full length: the pod stops
  | 'LOG_REFUSED' // the entry is certainly not in the log, which cannot be written now (a folder that is gone or read-only); retry
  | 'LOG_UNAVAILABLE' // the entry could not be written or its outcome is unknown after all retries; retry
  | 'FENCED' // this incarnation was fenced: the pod stops
  | 'LEVEL_UNKNOWN' // an entry of a newer level: the pod stops
  | 'CORRUPT' // bytes that do not decode
  | 'LIMIT' // a limit was met before memory was taken
  | 'CLOSED' // the part is shutting down
  | 'SCHEMA_REGISTRY_UNAVAILABLE' // the schema registry is away, or answers what is no answer; retry
  | 'SCHEMA_INVALID' // a schema that does not parse, or refers to what does not exist
  | 'REFUSED' // a rule refuses the request; the message says which

/** An error with a code of the closed list, one plain sentence, and the error that caused it. */
export class FrazilError extends Error {
  readonly code: ErrorCode
  constructor(code: ErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'FrazilError'
    this.code = code
  }
}

/** True when `error` is a FrazilError with this code. */
export function hasCode(error: unknown, code: ErrorCode): error is FrazilError {
  return error instanceof FrazilError && error.code === code
}
