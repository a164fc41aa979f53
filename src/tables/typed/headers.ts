import { walkHeaders } from '../../../protocol/records/walk.ts'
import { HEADER_NAMES } from '../../schemas/typing/framing.ts'

const KEY = Buffer.from(HEADER_NAMES.key)
const VALUE = Buffer.from(HEADER_NAMES.value)

/** The headers of a record that name the schemas of its key and value (newer form); null where there is none. */
export class SchemaHeaders {
  key: Uint8Array | null = null
  value: Uint8Array | null = null

  read(buf: Uint8Array, start: number, count: number): void {
    this.key = this.value = null
    if (count === 0) return
    walkHeaders(buf, start, count, (nameStart, nameEnd, valueStart, valueEnd) => {
      if (valueStart < 0) return
      if (equals(buf, nameStart, nameEnd, VALUE)) this.value = buf.subarray(valueStart, valueEnd)
      else if (equals(buf, nameStart, nameEnd, KEY)) this.key = buf.subarray(valueStart, valueEnd)
    })
  }
}

function equals(buf: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  if (end - start !== name.length) return false
  for (let i = 0; i < name.length; i++) if (buf[start + i] !== name[i]) return false
  return true
}
