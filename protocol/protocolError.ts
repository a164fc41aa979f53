/**
 * Bytes that are no message of the protocol, or a message that this version of the protocol cannot carry. The sentence says which field.
 * `reason` is 'unsupported' for an API key or version that is not served, 'limit' for a size over a limit, else 'malformed'.
 */
export class ProtocolError extends Error {
  readonly reason: 'malformed' | 'limit' | 'unsupported'
  constructor(reason: 'malformed' | 'limit' | 'unsupported', message: string) {
    super(message)
    this.name = 'ProtocolError'
    this.reason = reason
  }
}
