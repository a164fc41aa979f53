import { FrazilError } from '../../base/errors.ts'
import { DEPTH_MAX } from './language.ts'

/** A JSON value whose numbers keep their text where it says more than a double does (1.0, 2^63). */
export type Json = null | boolean | number | string | RawNumber | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}
/** What JSON.rawJSON gives; JSON.stringify writes it as it is. */
export interface RawNumber {
  readonly rawJSON: string
}

const withRaw = JSON as unknown as { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): value is RawNumber }

export const isRawNumber = (value: unknown): value is RawNumber => withRaw.isRawJSON(value)

export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) && !isRawNumber(value)
}

/** Parses strictly. Error: SCHEMA_INVALID, also when it is nested more than DEPTH_MAX deep. */
export function parseJson(text: string): Json {
  checkDepth(text)
  try {
    return JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
        ? withRaw.rawJSON(context.source)
        : value,
    ) as Json
  } catch (error) {
    throw new FrazilError('SCHEMA_INVALID', `the schema is no JSON: ${(error as Error).message}`, error)
  }
}

/** As JSON.parse gives it: for libraries that compute with the numbers. */
export function plain(value: Json): unknown {
  if (isRawNumber(value)) return Number(value.rawJSON)
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]))
}

/** A copy whose objects have their names in order. */
export function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, sorted(value[name])]),
  )
}

/** Without recursion: a text that would exhaust the stack is refused first. */
function checkDepth(text: string): void {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inString) {
      if (c === 0x5c) i++
      else if (c === 0x22) inString = false
    } else if (c === 0x22) inString = true
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > DEPTH_MAX) throw new FrazilError('SCHEMA_INVALID', `the schema is nested more than ${DEPTH_MAX} levels deep`)
    } else if (c === 0x7d || c === 0x5d) depth--
  }
}
