import { isUtf8 } from 'node:buffer'

/** Up to here a loop over ASCII bytes beats a call into native code. */
const SHORT_BYTES = 48

/** True when [start, end) is valid UTF-8. */
export function validUtf8(buf: Uint8Array, start: number, end: number): boolean {
  if (end - start <= SHORT_BYTES) {
    let at = start
    while (at < end && buf[at] < 0x80) at++
    if (at === end) return true
  }
  return isUtf8(buf.subarray(start, end))
}
