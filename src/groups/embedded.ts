/**
 * The protocol that consumers embed in the bytes of JoinGroup and SyncGroup (protocol type "consumer"): subscriptions and assignments,
 * versions 0 to 3 (KIP-429, KIP-792, KIP-881). Only retention, deletion of offsets and migration look inside.
 */
export interface NamedPartitions {
  readonly topic: string
  readonly partitions: readonly number[]
}

export interface Subscription {
  readonly topics: readonly string[]
  /** What the member says it owns; none before version 1. */
  readonly owned: readonly NamedPartitions[]
  readonly rackId: string | null
}

export interface Assignment {
  readonly partitions: readonly NamedPartitions[]
  /** An assignor of the user's own keeps something here. */
  readonly hasUserData: boolean
}

const HIGHEST_VERSION = 3

/** null when the bytes are none. */
export function parseSubscription(bytes: Uint8Array): Subscription | null {
  return parse(bytes, (reader, version) => {
    const topics = reader.list(() => reader.text())
    reader.skipBytes()
    const owned = version >= 1 ? named(reader) : []
    if (version >= 2) reader.int32()
    const rackId = version >= 3 ? reader.optionalText() : null
    return { topics, owned, rackId }
  })
}

/** null when the bytes are none; of no bytes at all: nothing. */
export function parseAssignment(bytes: Uint8Array): Assignment | null {
  if (bytes.length === 0) return { partitions: [], hasUserData: false }
  return parse(bytes, (reader) => ({ partitions: named(reader), hasUserData: reader.skipBytes() > 0 }))
}

/** Topics of a subscription, or null when the bytes are none. */
export function subscribedTopics(bytes: Uint8Array): readonly string[] | null {
  return parse(bytes, (reader) => reader.list(() => reader.text()))
}

/** An assignment in the version of the member's subscription, as far as we know it. */
export function encodeAssignment(partitions: readonly NamedPartitions[], subscription: Uint8Array): Uint8Array {
  const names = partitions.map(({ topic }) => Buffer.from(topic, 'utf8'))
  const sizeBytes = partitions.reduce((sum, each, i) => sum + 2 + names[i].length + 4 + 4 * each.partitions.length, 2 + 4 + 4)
  const out = Buffer.alloc(sizeBytes)
  const version = subscription.length < 2 ? 0 : (subscription[0] << 8) | subscription[1]
  let at = out.writeInt16BE(Math.min(version, HIGHEST_VERSION), 0)
  at = out.writeInt32BE(partitions.length, at)
  partitions.forEach((each, i) => {
    at = out.writeInt16BE(names[i].length, at)
    at += names[i].copy(out, at)
    at = out.writeInt32BE(each.partitions.length, at)
    for (const partition of each.partitions) at = out.writeInt32BE(partition, at)
  })
  out.writeInt32BE(-1, at)
  return out
}

function named(reader: Reader): NamedPartitions[] {
  return reader.list(() => ({ topic: reader.text(), partitions: reader.list(() => reader.int32()) }))
}

class Malformed extends Error {}

function parse<T>(bytes: Uint8Array, read: (reader: Reader, version: number) => T): T | null {
  const reader = new Reader(bytes)
  try {
    const version = reader.int16()
    return version < 0 ? null : read(reader, version)
  } catch (error) {
    if (error instanceof Malformed) return null
    throw error
  }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  #take(size: number): number {
    const at = this.#at
    if (size < 0 || at + size > this.#bytes.length) throw new Malformed()
    this.#at = at + size
    return at
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#take(2))
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#take(4))
  }

  text(): string {
    const length = this.int16()
    const at = this.#take(length)
    return this.#bytes.toString('utf8', at, at + length)
  }

  optionalText(): string | null {
    const length = this.int16()
    if (length < 0) return null
    const at = this.#take(length)
    return this.#bytes.toString('utf8', at, at + length)
  }

  /** The length of nullable bytes, which are passed over. */
  skipBytes(): number {
    const length = this.int32()
    if (length > 0) this.#take(length)
    return length
  }

  /** No element is shorter than two bytes, so a count beyond that is none: memory is not taken for it. */
  list<T>(element: () => T): T[] {
    const count = this.int32()
    if (count < 0 || count * 2 > this.#bytes.length - this.#at) throw new Malformed()
    return Array.from({ length: count }, element)
  }
}
