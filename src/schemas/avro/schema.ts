import { FrazilError } from '../../base/errors.ts'

/** An Avro schema with its names resolved: a recursive type refers to itself, so this may be a graph. */
export interface AvroNode {
  readonly kind:
    'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string' | 'record' | 'enum' | 'array' | 'map' | 'union' | 'fixed'
  /** Full name of a record, enum or fixed. */
  readonly name: string
  readonly logical: string
  readonly precision: number
  readonly scale: number
  /** Bytes of a fixed. */
  readonly size: number
  /** Of the schema's own attribute `adjust-to-utc`, which Iceberg writes. */
  readonly adjustToUtc: boolean | null
  readonly symbols: readonly string[]
  readonly fields: readonly { readonly name: string; readonly node: AvroNode; readonly doc?: string }[]
  readonly items: AvroNode | null
  readonly branches: readonly AvroNode[]
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

const PRIMITIVES: ReadonlySet<string> = new Set(['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'])

function bad(message: string): never {
  throw new FrazilError('SCHEMA_INVALID', `the Avro schema cannot be read: ${message}`)
}

function node(kind: AvroNode['kind']): Mutable<AvroNode> {
  return {
    kind,
    name: '',
    logical: '',
    precision: 0,
    scale: 0,
    size: 0,
    adjustToUtc: null,
    symbols: [],
    fields: [],
    items: null,
    branches: [],
  }
}

/**
 * Parses an Avro schema (Avro specification, "Schema Declaration"); `references` are the texts of schemas that define
 * names used in it, those referred to by others first. Errors: SCHEMA_INVALID.
 */
export function parseAvro(text: string, references: readonly string[] = []): AvroNode {
  const names = new Map<string, Mutable<AvroNode>>()
  for (const reference of references) parseText(reference, names)
  return parseText(text, names)
}

function parseText(text: string, names: Map<string, Mutable<AvroNode>>): AvroNode {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // A bare primitive name is a schema, too, to many clients.
    json = text.trim()
  }
  return parse(json, '', names, 0)
}

function parse(json: unknown, space: string, names: Map<string, Mutable<AvroNode>>, depth: number): AvroNode {
  if (depth > 500) bad('it is nested too deep')
  if (typeof json === 'string') {
    if (PRIMITIVES.has(json)) return node(json as AvroNode['kind'])
    const known = names.get(json.includes('.') || space === '' ? json : `${space}.${json}`) ?? names.get(json)
    return known ?? bad(`the type ${json} is not defined`)
  }
  if (Array.isArray(json)) return { ...node('union'), branches: json.map((one) => parse(one, space, names, depth + 1)) }
  if (typeof json !== 'object' || json === null) bad('a type is neither a name, a list nor an object')
  const object = json as Record<string, unknown>
  const type = object['type']
  if (typeof type !== 'string') return parse(type, space, names, depth + 1)
  const annotate = (out: Mutable<AvroNode>): AvroNode => {
    if (typeof object['logicalType'] === 'string') out.logical = object['logicalType']
    if (Number.isInteger(object['precision'])) out.precision = object['precision'] as number
    if (Number.isInteger(object['scale'])) out.scale = object['scale'] as number
    if (typeof object['adjust-to-utc'] === 'boolean') out.adjustToUtc = object['adjust-to-utc']
    return out
  }
  if (PRIMITIVES.has(type)) return annotate(node(type as AvroNode['kind']))
  if (type === 'array' || type === 'map')
    return annotate({ ...node(type), items: parse(object[type === 'array' ? 'items' : 'values'], space, names, depth + 1) })
  if (type !== 'record' && type !== 'error' && type !== 'enum' && type !== 'fixed') return parse(type, space, names, depth + 1)
  const given = typeof object['name'] === 'string' ? object['name'] : bad('a named type has no name')
  const own = given.includes('.')
    ? given.slice(0, given.lastIndexOf('.'))
    : typeof object['namespace'] === 'string'
      ? object['namespace']
      : space
  const out = node(type === 'error' ? 'record' : type)
  out.name = given.includes('.') || own === '' ? given : `${own}.${given}`
  names.set(out.name, out)
  if (type === 'enum') out.symbols = list(object['symbols']).map(String)
  else if (type === 'fixed')
    out.size = Number.isInteger(object['size']) && (object['size'] as number) >= 0 ? (object['size'] as number) : bad('a fixed has no size')
  else {
    out.fields = list(object['fields']).map((field) => {
      const { name, type: fieldType, doc } = field as Record<string, unknown>
      if (typeof name !== 'string') bad('a field has no name')
      const parsed: { name: string; node: AvroNode; doc?: string } = { name, node: parse(fieldType, own, names, depth + 1) }
      if (typeof doc === 'string') parsed.doc = doc
      return parsed
    })
  }
  return annotate(out)
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : bad('a list is missing')
}
