interface RawJson {
  rawJSON(text: string): unknown
}

const LONG_NUMBER = /[:[,]\s*-?\d{16,}/
const INTEGER = /^-?\d+$/

/** Parses JSON; integers beyond 2^53 become BigInt, so that no snapshot id loses its last digits (hazard I7). */
export function parseJson(text: string): unknown {
  if (!LONG_NUMBER.test(text)) return JSON.parse(text)
  const revive = (_key: string, value: unknown, context: { readonly source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && context.source !== undefined && INTEGER.test(context.source)
      ? BigInt(context.source)
      : value
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown)
}

/** Prints JSON; BigInt becomes a plain number. */
export function printJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'bigint' ? (JSON as unknown as RawJson).rawJSON(String(item)) : item,
  )
}
