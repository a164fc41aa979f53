import { createHmac, timingSafeEqual } from 'node:crypto'

/** Who opened the connection, and who took it. */
export type Side = 'dial' | 'accept'

const MAC_BYTES = 16

/** What a side shows to prove that it knows the secret; bound to both nonces and to the side, so that it cannot be sent back. */
export function proofOf(secret: Uint8Array, side: Side, acceptorNonce: Uint8Array, dialerNonce: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`frazil pod ${side} proof`).update(acceptorNonce).update(dialerNonce).digest()
}

/** Seals the messages of one connection: a key for each direction, and the number of the message under the seal. */
export class Seal {
  /** What the acceptor shows after the dialer's proof was right. */
  readonly proofOfAcceptor: Buffer
  readonly #ourKey: Buffer
  readonly #theirKey: Buffer
  #ours = 0
  #theirs = 0

  constructor(secret: Uint8Array, side: Side, acceptorNonce: Uint8Array, dialerNonce: Uint8Array) {
    const key = (of: Side): Buffer =>
      createHmac('sha256', secret).update(`frazil pod ${of} key`).update(acceptorNonce).update(dialerNonce).digest()
    this.proofOfAcceptor = proofOf(secret, 'accept', acceptorNonce, dialerNonce)
    this.#ourKey = key(side)
    this.#theirKey = key(side === 'dial' ? 'accept' : 'dial')
  }

  /** The seal of our next message. */
  ours(message: Uint8Array): Buffer {
    return sealOf(this.#ourKey, this.#ours++, message)
  }

  /** True when this is the seal of their next message. */
  isTheirs(message: Uint8Array, seal: Uint8Array): boolean {
    return timingSafeEqual(sealOf(this.#theirKey, this.#theirs++, message), seal)
  }
}

function sealOf(key: Uint8Array, number: number, message: Uint8Array): Buffer {
  const counted = Buffer.allocUnsafe(12)
  counted.writeDoubleBE(number, 0)
  counted.writeUInt32BE(message.length, 8)
  return createHmac('sha256', key).update(counted).update(message).digest().subarray(0, MAC_BYTES)
}
