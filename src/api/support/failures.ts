import { Errors } from '../../../protocol/index.ts'
import { hasCode } from '../../base/errors.ts'

/**
 * The Kafka error code of a failure while records were stored. All but the last are retriable: a producer sends the same
 * batch with the same sequence again, and the sequencer finds out whether it had landed.
 */
export function storageFailure(error: unknown): number {
  if (isStorage(error)) return Errors.KAFKA_STORAGE_ERROR
  // LIMIT: too much is waiting for the log already.
  if (hasCode(error, 'LOG_UNAVAILABLE') || hasCode(error, 'LIMIT')) return Errors.REQUEST_TIMED_OUT
  if (hasCode(error, 'FENCED') || hasCode(error, 'CLOSED')) return Errors.NOT_LEADER_OR_FOLLOWER
  return Errors.UNKNOWN_SERVER_ERROR
}

/** As above for requests that change topics and configs; NOT_CONTROLLER makes admin clients look for another node. */
export function adminFailure(error: unknown): number {
  if (isStorage(error)) return Errors.KAFKA_STORAGE_ERROR
  // LIMIT: too much is waiting for the log already.
  if (hasCode(error, 'LOG_UNAVAILABLE') || hasCode(error, 'LIMIT')) return Errors.REQUEST_TIMED_OUT
  if (hasCode(error, 'FENCED') || hasCode(error, 'CLOSED')) return Errors.NOT_CONTROLLER
  return Errors.UNKNOWN_SERVER_ERROR
}

function isStorage(error: unknown): boolean {
  return (['STORE_FULL', 'STORE_UNAVAILABLE', 'STORE_UNKNOWN', 'LOG_REFUSED'] as const).some((code) => hasCode(error, code))
}
