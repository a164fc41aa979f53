import type { Input } from '../../schemas/columns/input.ts'
import type { LeafSink } from '../../schemas/columns/ports.ts'

/** Numbers an entry takes: tag, then the value's halves, or where its bytes begin and end. */
const ENTRY = 3
const ABSENT = 0
const INT = 1
const LONG = 2
/** Bytes of the value being decoded. */
const OWN = 3
/** Bytes that a decoder made, and may make anew for the next column. */
const MADE = 4

/**
 * What one value has for one leaf, until it is known that the whole value is as its schema says: then `handOver` puts it
 * into the column; else it is forgotten, and columns never have anything taken back. One class for leaves of all types,
 * so that decoders' calls stay of one shape.
 */
export class StagedLeaf implements LeafSink {
  /** A tag is kind + definition level * 8 + repetition level * 2048. */
  entries = new Int32Array(ENTRY)
  end = 0
  made = Buffer.alloc(0)
  madeEnd = 0
  readonly #input: Input

  constructor(input: Input) {
    this.#input = input
  }

  clear(): void {
    this.end = this.madeEnd = 0
  }

  absent(definition: number, repetition: number): void {
    this.#put(ABSENT | (definition << 3) | (repetition << 11), 0, 0)
  }

  int(value: number, repetition: number): void {
    this.#put(INT | (repetition << 11), value, 0)
  }

  long(high: number, low: number, repetition: number): void {
    this.#put(LONG | (repetition << 11), high, low)
  }

  bytes(buf: Uint8Array, start: number, end: number, repetition: number): void {
    if (buf === this.#input.buf) return this.#put(OWN | (repetition << 11), start, end)
    const at = this.madeEnd
    const to = at + end - start
    if (to > this.made.length) {
      const larger = Buffer.alloc(Math.max(32, to * 2))
      this.made.copy(larger, 0, 0, at)
      this.made = larger
    }
    const { made } = this
    for (let from = start, i = at; i < to; i++) made[i] = buf[from++]
    this.madeEnd = to
    this.#put(MADE | (repetition << 11), at, to)
  }

  save(marks: number[], at: number): number {
    marks[at] = this.end
    marks[at + 1] = this.madeEnd
    return at + 2
  }

  restore(marks: readonly number[], at: number): number {
    this.end = marks[at]
    this.madeEnd = marks[at + 1]
    return at + 2
  }

  #put(tag: number, first: number, second: number): void {
    const at = this.end
    if (at === this.entries.length) {
      const larger = new Int32Array(at * 4)
      larger.set(this.entries)
      this.entries = larger
    }
    const { entries } = this
    entries[at] = tag
    entries[at + 1] = first
    entries[at + 2] = second
    this.end = at + ENTRY
  }
}

/** Puts what is staged of the value in `row` into the columns and empties the stages. */
export type HandOver = (row: Uint8Array) => void

/**
 * Makes what hands the staged leaves over, each to its column. The code is made for these columns, since code that all
 * tables share would have to look at each call of which class the column is.
 */
export function handOverOf(leaves: readonly StagedLeaf[], sinks: readonly LeafSink[]): HandOver {
  const body = leaves.map(
    (_, i) => `{
      const leaf = leaves${i}, entries = leaf.entries, end = leaf.end
      for (let at = 0; at < end; at += ${ENTRY}) {
        const tag = entries[at], kind = tag & 7, repetition = tag >> 11
        if (kind === ${ABSENT}) sink${i}.absent((tag >> 3) & 255, repetition)
        else if (kind === ${OWN}) sink${i}.bytes(row, entries[at + 1], entries[at + 2], repetition)
        else if (kind === ${LONG}) sink${i}.long(entries[at + 1], entries[at + 2], repetition)
        else if (kind === ${INT}) sink${i}.int(entries[at + 1], repetition)
        else sink${i}.bytes(leaf.made, entries[at + 1], entries[at + 2], repetition)
      }
      leaf.end = leaf.madeEnd = 0
    }`,
  )
  const names = leaves.map((_, i) => `const leaves${i} = leaves[${i}], sink${i} = sinks[${i}]`)
  const make = new Function('leaves', 'sinks', `'use strict'\n${names.join('\n')}\nreturn (row) => {\n${body.join('\n')}\n}`)
  return (make as (leaves: readonly StagedLeaf[], sinks: readonly LeafSink[]) => HandOver)(leaves, sinks)
}
