import { FrazilError } from '../../../base/errors.ts'
import { isObject, type Json, type JsonObject } from '../losslessJson.ts'

export const PRIMITIVES = ['null', 'boolean', 'int', 'long', 'float', 'double', 'bytes', 'string'] as const
export type Primitive = (typeof PRIMITIVES)[number]

/** Attributes that the specification does not define, in their order. */
export type Props = readonly (readonly [string, Json])[]

export interface PrimitiveNode {
  readonly kind: Primitive
  readonly props: Props
}
export interface ArrayNode {
  readonly kind: 'array' | 'map'
  readonly items: AvroNode
  readonly props: Props
}
export interface UnionNode {
  readonly kind: 'union'
  readonly branches: readonly AvroNode[]
}
interface NamedNode {
  readonly name: string
  /** '' for none. */
  readonly namespace: string
  readonly doc: string | undefined
  readonly aliases: readonly string[]
  readonly props: Props
}
export interface FixedNode extends NamedNode {
  readonly kind: 'fixed'
  readonly size: number
}
export interface EnumNode extends NamedNode {
  readonly kind: 'enum'
  readonly symbols: readonly string[]
  readonly default: string | undefined
}
export interface RecordNode extends NamedNode {
  readonly kind: 'record'
  readonly isError: boolean
  /** Filled after the record has its name, so that it can refer to itself. */
  fields: readonly FieldNode[]
}
export interface FieldNode {
  readonly name: string
  readonly type: AvroNode
  readonly doc: string | undefined
  readonly default: Json | undefined
  readonly order: string
  readonly aliases: readonly string[]
  readonly props: Props
}
export type Named = FixedNode | EnumNode | RecordNode
export type AvroNode = PrimitiveNode | ArrayNode | UnionNode | Named

export const fullName = (node: Named): string => (node.namespace === '' ? node.name : `${node.namespace}.${node.name}`)
export const isNamed = (node: AvroNode): node is Named => node.kind === 'record' || node.kind === 'enum' || node.kind === 'fixed'

const KNOWN: Readonly<Record<string, readonly string[]>> = {
  record: ['type', 'name', 'namespace', 'doc', 'aliases', 'fields'],
  enum: ['type', 'name', 'namespace', 'doc', 'aliases', 'symbols', 'default'],
  fixed: ['type', 'name', 'namespace', 'doc', 'aliases', 'size'],
  array: ['type', 'items'],
  map: ['type', 'values'],
  field: ['name', 'type', 'doc', 'default', 'order', 'aliases'],
}
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

const invalid = (sentence: string): FrazilError => new FrazilError('SCHEMA_INVALID', sentence)

/** The graph of an Avro schema (specification 1.12, "Schema Declaration"). `names` gets every named type that it declares. */
export function readAvro(json: Json, names: Map<string, Named>, namespace = ''): AvroNode {
  if (typeof json === 'string') return readName(json, names, namespace)
  if (Array.isArray(json)) return readUnion(json, names, namespace)
  if (!isObject(json)) throw invalid('an Avro type is a name, an object or an array')
  const { type } = json
  if (isObject(type) || Array.isArray(type)) return readAvro(type, names, namespace)
  if (typeof type !== 'string') throw invalid('an Avro type has no "type"')
  if (type === 'array') return { kind: 'array', items: readAvro(need(json, 'items'), names, namespace), props: propsOf(json, KNOWN.array) }
  if (type === 'map') return { kind: 'map', items: readAvro(need(json, 'values'), names, namespace), props: propsOf(json, KNOWN.map) }
  if (type === 'record' || type === 'error' || type === 'enum' || type === 'fixed') return readNamed(type, json, names, namespace)
  if ((PRIMITIVES as readonly string[]).includes(type)) return { kind: type as Primitive, props: propsOf(json, ['type']) }
  return readName(type, names, namespace)
}

function readName(name: string, names: Map<string, Named>, namespace: string): AvroNode {
  if ((PRIMITIVES as readonly string[]).includes(name)) return { kind: name as Primitive, props: [] }
  const found = (name.includes('.') || namespace === '' ? undefined : names.get(`${namespace}.${name}`)) ?? names.get(name)
  if (found === undefined) throw invalid(`the Avro type "${name}" is not defined`)
  return found
}

function readUnion(json: readonly Json[], names: Map<string, Named>, namespace: string): UnionNode {
  const branches = json.map((branch) => readAvro(branch, names, namespace))
  const seen = new Set<string>()
  for (const branch of branches) {
    if (branch.kind === 'union') throw invalid('an Avro union may not hold another union')
    const key = isNamed(branch) ? fullName(branch) : branch.kind
    if (seen.has(key)) throw invalid(`an Avro union has "${key}" twice`)
    seen.add(key)
  }
  return { kind: 'union', branches }
}

function readNamed(type: string, json: JsonObject, names: Map<string, Named>, outer: string): Named {
  const given = need(json, 'name')
  if (typeof given !== 'string') throw invalid('the name of an Avro type is no text')
  const dot = given.lastIndexOf('.')
  const declared = json.namespace
  const namespace = dot >= 0 ? given.slice(0, dot) : typeof declared === 'string' ? declared : outer
  const name = given.slice(dot + 1)
  for (const part of [name, ...(namespace === '' ? [] : namespace.split('.'))])
    if (!NAME.test(part)) throw invalid(`"${given}" is no Avro name`)
  const kind = type === 'error' ? 'record' : type
  const doc = typeof json.doc === 'string' ? json.doc : undefined
  const base = { name, namespace, doc, aliases: texts(json.aliases, 'aliases'), props: propsOf(json, KNOWN[kind]) }
  const full = namespace === '' ? name : `${namespace}.${name}`
  if (names.has(full) || (PRIMITIVES as readonly string[]).includes(full)) throw invalid(`the Avro name "${full}" is defined twice`)
  if (kind === 'fixed') {
    const size = need(json, 'size')
    if (typeof size !== 'number' || !Number.isInteger(size) || size < 0) throw invalid(`the size of "${full}" is no whole number`)
    return define(names, full, { kind, size, ...base })
  }
  if (kind === 'enum') {
    const symbols = texts(need(json, 'symbols'), 'symbols')
    for (const symbol of symbols) if (!NAME.test(symbol)) throw invalid(`"${symbol}" is no symbol of an Avro enum`)
    if (new Set(symbols).size !== symbols.length) throw invalid(`a symbol of "${full}" stands twice`)
    const standard = typeof json.default === 'string' ? json.default : undefined
    if (standard !== undefined && !symbols.includes(standard)) throw invalid(`the default of "${full}" is none of its symbols`)
    return define(names, full, { kind, symbols, default: standard, ...base })
  }
  const record = define<RecordNode>(names, full, { kind: 'record', isError: type === 'error', fields: [], ...base })
  const fields = need(json, 'fields')
  if (!Array.isArray(fields)) throw invalid(`the fields of "${full}" are no array`)
  record.fields = fields.map((field: Json) => readField(field, names, namespace, full))
  if (new Set(record.fields.map((field) => field.name)).size !== fields.length) throw invalid(`a field of "${full}" stands twice`)
  return record
}

function readField(json: Json, names: Map<string, Named>, namespace: string, record: string): FieldNode {
  if (!isObject(json) || typeof json.name !== 'string') throw invalid(`a field of "${record}" has no name`)
  if (!NAME.test(json.name)) throw invalid(`"${json.name}" is no name of an Avro field`)
  return {
    name: json.name,
    type: readAvro(need(json, 'type'), names, namespace),
    doc: typeof json.doc === 'string' ? json.doc : undefined,
    default: json.default,
    order: typeof json.order === 'string' ? json.order : 'ascending',
    aliases: texts(json.aliases, 'aliases'),
    props: propsOf(json, KNOWN.field),
  }
}

function define<T extends Named>(names: Map<string, Named>, full: string, node: T): T {
  names.set(full, node)
  return node
}

function need(json: JsonObject, name: string): Json {
  if (json[name] === undefined) throw invalid(`an Avro type or field has no "${name}"`)
  return json[name]
}

function texts(json: Json | undefined, what: string): readonly string[] {
  if (json === undefined) return []
  if (!Array.isArray(json) || json.some((item) => typeof item !== 'string')) throw invalid(`"${what}" is no array of texts`)
  return json as readonly string[]
}

function propsOf(json: JsonObject, known: readonly string[]): Props {
  return Object.entries(json).filter(([name]) => !known.includes(name))
}
