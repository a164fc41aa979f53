import { FrazilError } from '../../base/errors.ts'
import type { Mapped } from '../avro/map.ts'
import type { WantedField } from '../columns/book.ts'
import { COLUMNS_MAX, DEPTH_MAX, type Plan } from '../columns/plan.ts'

/**
 * What a JSON Schema says of the shape of values, as far as columns go. `text` is a part without a shape of its own: it
 * stays JSON text. Objects are numbered in the order in which they are met.
 */
export interface JsonNode {
  readonly kind: 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'timestamp' | 'uuid' | 'object' | 'map' | 'array' | 'text'
  readonly number: number
  readonly title: string
  readonly fields: readonly { readonly name: string; readonly node: JsonNode; readonly doc?: string }[]
  readonly items: JsonNode | null
}

type Json = Record<string, unknown>

const FORMATS: Readonly<Record<string, JsonNode['kind']>> = { date: 'date', 'date-time': 'timestamp', uuid: 'uuid' }

/** Parses a JSON Schema; `references` are schemas that `$ref` may name. Errors: SCHEMA_INVALID, LIMIT. */
export function parseJsonSchema(text: string, references: readonly { readonly name: string; readonly text: string }[]): JsonNode {
  let root: unknown
  const others = new Map<string, unknown>()
  try {
    root = JSON.parse(text)
    for (const one of references) others.set(one.name, JSON.parse(one.text))
  } catch (error) {
    throw new FrazilError('SCHEMA_INVALID', 'the JSON Schema is no JSON', error)
  }
  return new Parser(root, others).parse(root, root, [])
}

class Parser {
  readonly #root: unknown
  readonly #others: ReadonlyMap<string, unknown>
  #objects = 0
  #left = COLUMNS_MAX

  constructor(root: unknown, others: ReadonlyMap<string, unknown>) {
    this.#root = root
    this.#others = others
  }

  parse(json: unknown, document: unknown, above: readonly unknown[]): JsonNode {
    if (--this.#left < 0) throw new FrazilError('LIMIT', `the schema would make more than ${COLUMNS_MAX} columns`)
    if (typeof json !== 'object' || json === null || Array.isArray(json) || above.includes(json) || above.length >= DEPTH_MAX)
      return node('text')
    const schema = json as Json
    const inside = [...above, json]
    if (typeof schema['$ref'] === 'string') {
      const found = this.#resolve(schema['$ref'], document)
      return found === null ? node('text') : this.parse(found.json, found.document, inside)
    }
    const merged = this.#merged(schema)
    if (merged === null) return node('text')
    const types = (Array.isArray(merged['type']) ? merged['type'] : [merged['type']]).filter((type) => type !== 'null')
    let [type] = types
    if (types.length !== 1) return node('text')
    type ??= typeof merged['properties'] === 'object' ? 'object' : undefined
    switch (type) {
      case 'string':
        return node(FORMATS[String(merged['format'])] ?? 'string')
      case 'integer':
      case 'number':
      case 'boolean':
        return node(type)
      case 'array': {
        const { items } = merged
        if (typeof items !== 'object' || items === null || Array.isArray(items)) return node('text')
        return { ...node('array'), items: this.parse(items, document, inside) }
      }
      case 'object':
        return this.#object(merged, document, inside)
      default:
        return node('text')
    }
  }

  #object(schema: Json, document: unknown, inside: readonly unknown[]): JsonNode {
    const properties = schema['properties'] as Json | undefined
    const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
    const title = typeof schema['title'] === 'string' ? schema['title'] : ''
    if (names.length === 0) {
      const { additionalProperties } = schema
      if (typeof additionalProperties !== 'object' || additionalProperties === null) return node('text')
      return { ...node('map'), title, items: this.parse(additionalProperties, document, inside) }
    }
    const number = ++this.#objects
    const fields = names.map((name) => {
      const field: { name: string; node: JsonNode; doc?: string } = { name, node: this.parse(properties![name], document, inside) }
      const doc = (properties![name] as Json | null)?.['description']
      if (typeof doc === 'string') field.doc = doc
      return field
    })
    return { ...node('object'), title, number, fields }
  }

  /** `[null, T]` in any spelling is T; objects of an allOf are one object. null for what has no one shape. */
  #merged(schema: Json): Json | null {
    for (const key of ['oneOf', 'anyOf']) {
      const choices = schema[key]
      if (!Array.isArray(choices)) continue
      const real = choices.filter((one) => (one as Json | null)?.['type'] !== 'null')
      if (real.length !== 1 || typeof real[0] !== 'object' || real[0] === null) return null
      const only = real[0] as Json
      if ('$ref' in only || 'oneOf' in only || 'anyOf' in only || 'allOf' in only) return null
      return { ...schema, ...only, [key]: undefined }
    }
    const all = schema['allOf']
    if (!Array.isArray(all)) return schema
    const properties: Json = { ...(schema['properties'] as Json | undefined) }
    for (const one of all) {
      if (typeof one !== 'object' || one === null || typeof (one as Json)['properties'] !== 'object') return null
      Object.assign(properties, (one as Json)['properties'])
    }
    return { ...schema, type: 'object', properties }
  }

  #resolve(ref: string, document: unknown): { json: unknown; document: unknown } | null {
    const [file, pointer = ''] = ref.split('#')
    let json: unknown = file === '' || file === undefined ? document : this.#others.get(file)
    if (file === '' && document !== this.#root && json === undefined) json = this.#root
    if (json === undefined) return null
    const from = json
    for (const part of pointer.split('/').slice(1)) {
      if (typeof json !== 'object' || json === null) return null
      json = (json as Json)[decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')]
    }
    return json === undefined ? null : { json, document: from }
  }
}

function node(kind: JsonNode['kind']): JsonNode {
  return { kind, number: 0, title: '', fields: [], items: null }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'string',
  integer: 'long',
  number: 'double',
  boolean: 'boolean',
  date: 'date',
  timestamp: 'timestamptz',
  uuid: 'uuid',
  text: 'string',
}

/** Maps a schema, or a part of one (docs/TYPES.md). */
export function mapJson(json: JsonNode): Mapped {
  const plan: Plan = { as: json.kind, col: 0, kids: [] }
  const assign = (id: number): void => void (plan.col = id)
  if (json.kind === 'object') {
    const fields = json.fields.map((field): WantedField => {
      const mapped = mapJson(field.node)
      plan.kids.push(mapped.plan)
      const { name, doc } = field
      return doc === undefined ? { name, wanted: mapped.wanted! } : { name, wanted: mapped.wanted!, doc }
    })
    return { plan, wanted: { type: 'struct', fields, assign } }
  }
  if (json.kind === 'array' || json.kind === 'map') {
    const item = mapJson(json.items!)
    plan.kids.push(item.plan)
    if (json.kind === 'array') return { plan, wanted: { type: 'list', element: item.wanted!, assign } }
    const key: Plan = { as: 'string', col: 0, kids: [] }
    plan.kids.unshift(key)
    return { plan, wanted: { type: 'map', key: { type: 'string', assign: (id) => (key.col = id) }, value: item.wanted!, assign } }
  }
  return { plan, wanted: { type: TYPES[json.kind], assign } }
}
