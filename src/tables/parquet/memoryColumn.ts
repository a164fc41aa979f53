import type { LeafSink } from '../../schemas/columns/ports.ts'
import type { Column } from './columnReader.ts'
import type { Leaf } from './schema.ts'

/** A leaf column that is put together in memory and then read, row by row. */
export class MemoryColumn implements Column, LeafSink {
  entry = 0
  readonly leaf: Leaf
  definition = new Uint8Array(0)
  repetition = new Uint8Array(0)
  valueAt = new Int32Array(0)
  ints = new Int32Array(0)
  data: Uint8Array = new Uint8Array(0)
  starts = new Int32Array(0)
  readonly #definitions: number[] = []
  readonly #repetitions: number[] = []
  readonly #values: number[] = []
  readonly #ints: number[] = []
  readonly #parts: Uint8Array[] = []
  readonly #firsts: number[] = []

  constructor(leaf: Leaf) {
    this.leaf = leaf
  }

  get count(): number {
    return this.definition.length
  }

  seek(i: number): void {
    this.entry = this.#firsts[i]
  }

  absent(definition: number, repetition: number): void {
    this.#put(definition, repetition, -1)
  }

  int(value: number, repetition: number): void {
    this.#put(this.leaf.maxDefinition, repetition, this.#ints.push(value) - 1)
  }

  long(high: number, low: number, repetition: number): void {
    this.#put(this.leaf.maxDefinition, repetition, this.#ints.push(low, high) / 2 - 1)
  }

  bytes(buf: Uint8Array, start: number, end: number, repetition: number): void {
    this.#put(this.leaf.maxDefinition, repetition, this.#parts.push(buf.slice(start, end)) - 1)
  }

  save(): never {
    throw new TypeError('columns in memory are not taken back')
  }

  restore(): never {
    throw new TypeError('columns in memory are not taken back')
  }

  /** Ends the putting: from here on it is read. */
  seal(): this {
    this.definition = Uint8Array.from(this.#definitions)
    this.repetition = Uint8Array.from(this.#repetitions)
    this.valueAt = Int32Array.from(this.#values)
    this.ints = Int32Array.from(this.#ints)
    this.data = Buffer.concat(this.#parts)
    this.starts = new Int32Array(this.#parts.length + 1)
    this.#parts.forEach((part, i) => (this.starts[i + 1] = this.starts[i] + part.length))
    return this
  }

  #put(definition: number, repetition: number, value: number): void {
    if (repetition === 0) this.#firsts.push(this.#definitions.length)
    this.#definitions.push(definition)
    this.#repetitions.push(repetition)
    this.#values.push(value)
  }
}
