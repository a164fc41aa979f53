import { Input, undecodable } from '../columns/input.ts'
import { Output } from '../columns/output.ts'
import type { ProtoField, ProtoMessage } from './schema.ts'
import { wireTypeOf } from './wire.ts'

const NESTING_MAX = 100

interface Part {
  readonly number: number
  readonly wireType: number
  readonly start: number
  readonly end: number
}

/**
 * The same message with its fields in ascending order, each once, packed as declared: what a parser makes of any order
 * (Protocol Buffers encoding, "Message Structure": the last one wins, messages are merged, lists joined). Unknown fields
 * are left out. Rare, so it makes objects. Errors: Undecodable.
 */
export function normalMessage(message: ProtoMessage, buf: Uint8Array, start: number, end: number, depth = 0): Buffer {
  if (depth > NESTING_MAX) undecodable()
  const parts = new Map<number, Part[]>()
  const input = new Input()
  input.reset(buf, start, end)
  while (input.at < end) {
    input.varint()
    const number = input.low >>> 3
    const wireType = input.low & 7
    if (input.high !== 0 || number === 0) undecodable()
    let from = input.at
    if (wireType === 0) input.varint()
    else if (wireType === 1) input.skip(8)
    else if (wireType === 5) input.skip(4)
    else if (wireType === 2) {
      input.varint()
      if (input.high !== 0 || input.low < 0) undecodable()
      from = input.skip(input.low)
    } else undecodable()
    const part = { number, wireType, start: from, end: input.at }
    const known = parts.get(number)
    if (known === undefined) parts.set(number, [part])
    else known.push(part)
  }
  const output = new Output()
  for (const field of message.fields) {
    const found = parts.get(field.number)
    if (found !== undefined) writeField(field, found, buf, output, depth)
  }
  return Buffer.from(output.buf.subarray(0, output.at))
}

function writeField(field: ProtoField, parts: readonly Part[], buf: Uint8Array, output: Output, depth: number): void {
  const { message, number } = field
  const blob = (bytes: Uint8Array): void => {
    output.varint(0, (number << 3) | 2)
    output.varint(0, bytes.length)
    output.bytes(bytes, 0, bytes.length)
  }
  if (field.label === 'map') {
    for (const part of parts) blob(normalEntry(field, buf, part, depth))
    return
  }
  if (message !== null) {
    if (parts.some((part) => part.wireType !== 2)) undecodable()
    const bodies =
      field.label === 'one'
        ? [Buffer.concat(parts.map((part) => buf.subarray(part.start, part.end)))]
        : parts.map((part) => buf.subarray(part.start, part.end))
    for (const body of bodies) blob(normalMessage(message, body, 0, body.length, depth + 1))
    return
  }
  const wireType = wireTypeOf(field.type)
  const items = field.label === 'one' ? parts.slice(-1) : parts
  const packs = wireType !== 2
  if (items.some((part) => part.wireType !== wireType && !(packs && part.wireType === 2 && field.label === 'repeated'))) undecodable()
  if (field.label === 'repeated' && packs && field.isPacked)
    return blob(Buffer.concat(items.map((part) => buf.subarray(part.start, part.end))))
  for (const part of items) {
    if (packs && part.wireType === 2) {
      for (const [from, to] of unpacked(buf, part, wireType)) {
        output.varint(0, (number << 3) | wireType)
        output.bytes(buf, from, to)
      }
    } else if (wireType === 2) blob(buf.subarray(part.start, part.end))
    else {
      output.varint(0, (number << 3) | wireType)
      output.bytes(buf, part.start, part.end)
    }
  }
}

function* unpacked(buf: Uint8Array, part: Part, wireType: number): Generator<readonly [number, number]> {
  const input = new Input()
  input.reset(buf, part.start, part.end)
  while (input.at < part.end) {
    const from = input.at
    if (wireType === 0) input.varint()
    else input.skip(wireType === 1 ? 8 : 4)
    yield [from, input.at]
  }
}

/** A map's entry with both of its fields, defaults written out. */
function normalEntry(field: ProtoField, buf: Uint8Array, part: Part, depth: number): Buffer {
  if (part.wireType !== 2) undecodable()
  const one = { ...field, label: 'one' as const, hasPresence: true }
  const key: ProtoField = { ...one, name: 'key', number: 1, type: field.keyType, message: null }
  const value: ProtoField = { ...one, name: 'value', number: 2 }
  const found = normalMessage({ name: '', fields: [key, value] }, buf, part.start, part.end, depth + 1)
  const has = (number: number): boolean => {
    const input = new Input()
    input.reset(found, 0, found.length)
    while (input.at < found.length) {
      input.varint()
      const { low } = input
      if (low >>> 3 === number) return true
      const wireType = low & 7
      if (wireType === 0) input.varint()
      else if (wireType === 2) {
        input.varint()
        input.skip(input.low)
      } else input.skip(wireType === 1 ? 8 : 4)
    }
    return false
  }
  const standIn = (one: ProtoField): Buffer => {
    const wireType = one.message === null ? wireTypeOf(one.type) : 2
    return Buffer.concat([Buffer.from([(one.number << 3) | wireType]), Buffer.alloc(wireType === 1 ? 8 : wireType === 5 ? 4 : 1)])
  }
  return Buffer.concat([...(has(1) ? [] : [standIn(key)]), found, ...(has(2) ? [] : [standIn(value)])])
}
