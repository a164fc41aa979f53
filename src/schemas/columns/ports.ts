/**
 * Where a decoder puts the values of one leaf column, and where an encoder gets them from. Levels are Parquet's: the
 * definition level says how much of the leaf's path is there, the repetition level at which list a new element begins.
 * Implemented by table files; codecs know nothing else of them.
 */
export interface LeafSink {
  /** A null at this definition level. */
  absent(definition: number, repetition: number): void
  /** A value of boolean (0, 1), int, date, or decimal of up to 9 digits. */
  int(value: number, repetition: number): void
  /** A 64-bit value as two 32-bit halves, signed as int32 both. */
  long(high: number, low: number, repetition: number): void
  /** A value as it is stored: float and double little-endian, decimal of more than 18 digits, uuid, fixed; or a byte string. */
  bytes(buf: Uint8Array, start: number, end: number, repetition: number): void
  save(marks: number[], at: number, atRow: boolean): number
  restore(marks: readonly number[], at: number): number
}

/**
 * A page of one leaf column, entry by entry. For the entry at `entry`: its definition level is `definition[entry]`, its
 * value stands at index `valueAt[entry]`. The encoder of a row moves `entry` on over the row's entries.
 */
export interface LeafSource {
  entry: number
  /** Entries of the page. */
  readonly count: number
  readonly definition: Uint8Array
  readonly repetition: Uint8Array
  readonly valueAt: Int32Array
  /** boolean, int, date, small decimals: the value; 64-bit types: low half at 2i, high half at 2i + 1. */
  readonly ints: Int32Array
  /** Everything else: value i is [starts[i], starts[i + 1]) of `bytes`. */
  readonly data: Uint8Array
  readonly starts: Int32Array
}
