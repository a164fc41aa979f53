import { Errors } from '../errors.ts'

/** Bytes that are no record batch. `kafkaError` is the code that a Kafka broker answers for them. */
export class RecordsError extends Error {
  readonly kafkaError: number
  constructor(kafkaError: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'RecordsError'
    this.kafkaError = kafkaError
  }
}

/** A record that does not follow the format (K: DefaultRecord, DefaultRecordBatch throw InvalidRecordException). */
export function invalidRecord(message: string): RecordsError {
  return new RecordsError(Errors.INVALID_RECORD, message)
}
