import { undecodable, type Input } from '../columns/input.ts'

/** JSON text (RFC 8259) as bytes. Errors: Undecodable. */

const NESTING_MAX = 500

export function isSpace(byte: number): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9
}

export function skipSpace(input: Input): void {
  const { buf, end } = input
  while (input.at < end && isSpace(buf[input.at])) input.at++
}

/** Passes these bytes over when they stand here. */
export function literalAt(input: Input, literal: Uint8Array): boolean {
  const { buf, at, end } = input
  const size = literal.length
  if (size > end - at) return false
  for (let i = 0; i < size; i++) if (buf[at + i] !== literal[i]) return false
  input.at = at + size
  return true
}

/** The end of the string that begins here, its closing quote included. */
export function textEnd(input: Input): number {
  const { buf, end } = input
  let { at } = input
  if (at >= end || buf[at] !== 34) undecodable()
  for (at++; at < end; at++) {
    const byte = buf[at]
    if (byte === 34) return at + 1
    if (byte === 92) at++
  }
  undecodable()
}

/** The end of the string that begins here, as a negative number when it is ASCII without escapes, which all shapes print so. */
export function asciiEnd(input: Input): number {
  const { buf, end } = input
  if (buf[input.at] === 34) {
    for (let at = input.at + 1; at < end; at++) {
      const byte = buf[at]
      if (byte === 34) return -(at + 1)
      if (byte === 92 || byte < 32 || byte > 127) break
    }
  }
  return textEnd(input)
}

/** The text of a string with its quotes. */
export function unescape(buf: Uint8Array, start: number, end: number): string {
  const source = Buffer.from(buf.buffer, buf.byteOffset + start, end - start).toString()
  try {
    return JSON.parse(source) as string
  } catch {
    return undecodable()
  }
}

const WORDS = ['null', 'true', 'false'].map((word) => Buffer.from(word))
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Passes one value over, white space within it too. */
export function skipText(input: Input): void {
  if (++input.depth > NESTING_MAX) undecodable()
  const { buf, end } = input
  const byte = buf[input.at]
  if (input.at >= end) undecodable()
  if (byte === 34) {
    const to = textEnd(input)
    unescape(buf, input.at, to)
    input.at = to
  } else if (byte === 123 || byte === 91) {
    const close = byte + 2
    input.at++
    skipSpace(input)
    if (buf[input.at] === close && input.at < end) input.at++
    else {
      for (;;) {
        if (byte === 123) {
          const to = textEnd(input)
          unescape(buf, input.at, to)
          input.at = to
          skipSpace(input)
          if (input.at >= end || buf[input.at++] !== 58) undecodable()
          skipSpace(input)
        }
        skipText(input)
        skipSpace(input)
        if (input.at >= end) undecodable()
        const next = buf[input.at++]
        if (next === close) break
        if (next !== 44) undecodable()
        skipSpace(input)
      }
    }
  } else if (!WORDS.some((word) => literalAt(input, word))) {
    const source = Buffer.from(buf.buffer, buf.byteOffset + input.at, Math.min(end - input.at, 400)).toString('latin1')
    NUMBER.lastIndex = 0
    const found = NUMBER.exec(source)
    if (found === null) undecodable()
    input.at += found[0].length
  }
  input.depth--
}
