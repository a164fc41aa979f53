import { crc32c } from '@node-rs/crc32'

const SCRATCH_BYTES = 16 * 1024
/** A byte string above this is not copied into the scratch buffer but checksummed where it stands. */
const COPY_MAX_BYTES = 4096
/** Views are kept of lengths below this. */
const VIEWS = 1024
const TWO_32 = 4294967296

/**
 * Computes kafka_crc: CRC-32C over partition int32, offset int64, timestamp ms int64, timestamp type int8, key, value,
 * header count int32, then each header's key and value; byte strings as int32 length (-1 for null) and bytes; all
 * big-endian (DESIGN.md, the row). Calls come in that order: `begin`, `blob` for key and value, `count`, two `blob`s a
 * header, `finish`. Small rows cost one native call: their parts are gathered first.
 */
export class RowCrc {
  readonly #scratch = Buffer.allocUnsafeSlow(SCRATCH_BYTES)
  /** Views of what is flushed, by length: making one costs more than the checksum of a small row. */
  readonly #views: (Buffer | undefined)[] = []
  #at = 0
  #crc = 0
  #begun = false

  begin(partition: number, offset: number, timestampMs: number, timestampType: number): void {
    this.#at = 0
    this.#crc = 0
    this.#begun = false
    this.#int32(partition)
    this.#int64(offset)
    this.#int64(timestampMs)
    this.#scratch[this.#at++] = timestampType
  }

  /** A byte string of `buf`; `start` -1 is null. */
  blob(buf: Uint8Array, start: number, end: number): void {
    if (this.#at + 4 + COPY_MAX_BYTES > SCRATCH_BYTES) this.#flush()
    if (start < 0) return this.#int32(-1)
    const sizeBytes = end - start
    this.#int32(sizeBytes)
    if (sizeBytes === 0) return
    if (sizeBytes > COPY_MAX_BYTES) {
      this.#flush()
      this.#crc = crc32c(buf.subarray(start, end), this.#crc)
      return
    }
    const scratch = this.#scratch
    let at = this.#at
    if (sizeBytes <= 32) for (let i = start; i < end; i++) scratch[at++] = buf[i]
    else scratch.set(buf.subarray(start, end), at)
    this.#at += sizeBytes
  }

  count(headers: number): void {
    if (this.#at + 4 > SCRATCH_BYTES) this.#flush()
    this.#int32(headers)
  }

  /** The checksum as a signed int32. */
  finish(): number {
    this.#flush()
    return this.#crc | 0
  }

  #flush(): void {
    if (this.#at === 0) return
    const part = this.#at < VIEWS ? (this.#views[this.#at] ??= this.#scratch.subarray(0, this.#at)) : this.#scratch.subarray(0, this.#at)
    this.#crc = this.#begun ? crc32c(part, this.#crc) : crc32c(part)
    this.#begun = true
    this.#at = 0
  }

  #int32(value: number): void {
    const scratch = this.#scratch
    const at = this.#at
    scratch[at] = value >> 24
    scratch[at + 1] = value >> 16
    scratch[at + 2] = value >> 8
    scratch[at + 3] = value
    this.#at = at + 4
  }

  #int64(value: number): void {
    const high = Math.floor(value / TWO_32)
    this.#int32(high)
    this.#int32(value - high * TWO_32)
  }
}

/** A record as plain values; what tests and tools use. The hot paths drive RowCrc themselves. */
export interface PlainRow {
  readonly partition: number
  readonly offset: number
  readonly timestampMs: number
  readonly timestampType: number
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly headers: readonly { readonly key: Uint8Array; readonly value: Uint8Array | null }[]
}

/** kafka_crc of a record, as a signed int32. */
export function crcOfRow(row: PlainRow): number {
  const crc = new RowCrc()
  const blob = (bytes: Uint8Array | null): void => (bytes === null ? crc.blob(EMPTY, -1, -1) : crc.blob(bytes, 0, bytes.length))
  crc.begin(row.partition, row.offset, row.timestampMs, row.timestampType)
  blob(row.key)
  blob(row.value)
  crc.count(row.headers.length)
  for (const header of row.headers) {
    blob(header.key)
    blob(header.value)
  }
  return crc.finish()
}

const EMPTY = new Uint8Array(0)
