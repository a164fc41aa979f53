import type { Message, MessageInput, MessageOf } from '../schema.ts'
import { inRange, parseVersions } from '../versions.ts'
import { ProtocolError } from '../protocolError.ts'
import { decodeSource } from './decodeSource.ts'
import { encodeSource } from './encodeSource.ts'
import { planOf } from './plan.ts'
import { Reader } from './read.ts'
import { Writer } from './write.ts'
import type { Encoded } from './write.ts'

type Decoder = (b: Buffer, p: number, end: number, r: Reader) => unknown
type Encoder = (m: unknown, w: Writer) => void

/** The compiled functions of one message, by version; each is compiled when it is first used. */
interface Compiled {
  readonly decoders: Decoder[]
  readonly encoders: Encoder[]
}

// Not state: a memory of compiled functions, and scratch that no call leaves anything in.
const compiled = new WeakMap<Message, Compiled>()
const reader = new Reader()
const writer = new Writer()

function compiledOf(message: Message): Compiled {
  let entry = compiled.get(message)
  if (!entry) compiled.set(message, (entry = { decoders: [], encoders: [] }))
  return entry
}

function checkVersion(message: Message, version: number): void {
  if (!Number.isInteger(version) || !inRange(parseVersions(message.validVersions), version)) {
    throw new ProtocolError('unsupported', `${message.name} has no version ${version}, only ${message.validVersions}`)
  }
}

function decoderOf(message: Message, version: number): Decoder {
  const { decoders } = compiledOf(message)
  const known = decoders[version]
  if (known) return known
  checkVersion(message, version)
  return (decoders[version] = new Function('b', 'p', 'end', 'r', decodeSource(planOf(message, version))) as Decoder)
}

function encoderOf(message: Message, version: number): Encoder {
  const { encoders } = compiledOf(message)
  const known = encoders[version]
  if (known) return known
  checkVersion(message, version)
  return (encoders[version] = new Function('m', 'w', encodeSource(planOf(message, version))) as Encoder)
}

/** A decoded message and the position after it. */
export interface DecodedAt<M extends Message> {
  value: MessageOf<M>
  end: number
}

/**
 * Decodes one message that starts at `at`. Bytes after it are left alone, as Kafka does. Fields of type bytes and records are views of `buf`.
 * Throws ProtocolError for a version that does not exist and for bytes that do not decode.
 */
export function decodeMessage<M extends Message>(message: M, version: number, buf: Buffer, at = 0): DecodedAt<M> {
  const decoder = decoderOf(message, version)
  try {
    const value = decoder(buf, at, buf.length, reader) as MessageOf<M>
    return { value, end: reader.at }
  } catch (error) {
    throw named(error, message, version)
  }
}

/**
 * Encodes messages one after the other into one list of chunks. With `sizePrefix` the whole is a frame: an int32 size comes first.
 * Throws ProtocolError for a value that the version cannot carry.
 */
export function encodeMessages(parts: readonly EncodePart[], sizePrefix: boolean): Encoded {
  const encoders = parts.map((part) => encoderOf(part.message, part.version))
  writer.begin()
  let part = 0
  try {
    if (sizePrefix) {
      if (writer.at + 4 > writer.buf.length) writer.grow(4)
      writer.at += 4
    }
    for (; part < parts.length; part++) encoders[part](parts[part].value, writer)
    return sizePrefix ? writer.finishFrame() : writer.finish()
  } catch (error) {
    writer.abandon()
    throw named(error, parts[part].message, parts[part].version)
  }
}

/** A message among several; callers see to it that the value is a MessageInput of the message. */
export interface EncodePart {
  readonly message: Message
  readonly version: number
  readonly value: unknown
}

/** Encodes one message; small ones come as one chunk. Record slices of 1 KiB and more are referenced, not copied. */
export function encodeMessage<M extends Message>(message: M, version: number, value: MessageInput<M>): Encoded {
  return encodeMessages([{ message, version, value }], false)
}

function named(error: unknown, message: Message, version: number): unknown {
  if (!(error instanceof ProtocolError)) return error
  return new ProtocolError(error.reason, `${message.name} v${version}: ${error.message}`)
}
