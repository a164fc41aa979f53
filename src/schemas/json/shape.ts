import type { JsonNode } from './schema.ts'

/**
 * How the text of values is laid out, so that it comes back from columns: separators, escapes, how fractions print, and
 * for each object (by its number in the schema) the order of its fields and which of them stand there as null.
 */
export interface JsonShape {
  /** `:` or `: `. */
  readonly colon: string
  /** `,` or `, `. */
  readonly comma: string
  /** Everything beyond ASCII is escaped. */
  readonly ascii: boolean
  /** Whole doubles print as `1` (JavaScript) or `1.0` (Python, Java). */
  readonly floats: 'js' | 'python'
  readonly objects: Readonly<Record<string, { readonly order: readonly number[]; readonly nulls: readonly number[] }>>
}

/** A number as the shape prints it. */
export function printDouble(value: number, floats: JsonShape['floats']): string {
  if (Object.is(value, -0)) return floats === 'js' ? '0' : '-0.0'
  const text = String(value)
  if (floats === 'js') return text
  const exponent = text.indexOf('e')
  if (exponent < 0) {
    if (Math.abs(value) < 1e16 && Math.abs(value) >= 1e-4) return text.includes('.') ? text : `${text}.0`
    return pythonExponent(value)
  }
  return pythonExponent(value)
}

/** Python writes exponents from 1e16 on and below 1e-4, with two digits at least. */
function pythonExponent(value: number): string {
  const [digits, power] = value.toExponential().split('e')
  const sign = power[0]
  return `${digits}e${sign}${power.slice(1).padStart(2, '0')}`
}

/** A string's JSON text, quotes included. */
export function printString(text: string, ascii: boolean): string {
  const printed = JSON.stringify(text)
  if (!ascii) return printed
  return printed.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

const SAMPLE_MAX_BYTES = 64 * 1024

/** What a value's text shows of its shape; null when it is too long or no JSON text of this schema. */
export function learnShape(node: JsonNode, text: Buffer): JsonShape | null {
  if (text.length > SAMPLE_MAX_BYTES) return null
  const source = text.toString()
  let value: unknown
  try {
    value = JSON.parse(source)
  } catch {
    return null
  }
  const objects: Record<string, { order: number[]; nulls: number[] }> = {}
  const floats = { style: 'js' as JsonShape['floats'] }
  learn(node, value, objects)
  if (/[[,: ]-?\d+\.0[\],} ]|\de[+-]\d\d/.test(`${source} `) || /^-?\d+\.0$/.test(source)) floats.style = 'python'
  return {
    colon: /^[{[]+"(?:[^"\\]|\\.)*": /.test(source) ? ': ' : ':',
    comma: /[\w"\]}], ["\d[{tfn-]/.test(stripStrings(source)) ? ', ' : ',',
    ascii: /\\u(?!00[01])[0-9a-f]{4}/.test(source),
    floats: floats.style,
    objects,
  }
}

function stripStrings(source: string): string {
  return source.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""')
}

function learn(node: JsonNode, value: unknown, objects: Record<string, { order: number[]; nulls: number[] }>): void {
  if (value === null || typeof value !== 'object') return
  if (node.kind === 'array' && Array.isArray(value)) for (const one of value) learn(node.items!, one, objects)
  if (node.kind === 'map' && !Array.isArray(value)) for (const one of Object.values(value)) learn(node.items!, one, objects)
  if (node.kind !== 'object' || Array.isArray(value)) return
  const known = (objects[node.number] ??= { order: [], nulls: [] })
  let at = 0
  for (const [key, inner] of Object.entries(value)) {
    const index = node.fields.findIndex((field) => field.name === key)
    if (index < 0) continue
    const place = known.order.indexOf(index)
    if (place < 0) known.order.splice(at++, 0, index)
    else at = place + 1
    if (inner === null && !known.nulls.includes(index)) known.nulls.push(index)
    learn(node.fields[index].node, inner, objects)
  }
}
