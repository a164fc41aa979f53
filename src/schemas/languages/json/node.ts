import { isObject, isRawNumber, type Json, type JsonObject } from '../losslessJson.ts'
import type { Documents } from './documents.ts'

/** A JSON Schema by what it demands. Schemas that demand several kinds of things are `allOf` of them. */
export type SchemaNode =
  | { readonly kind: 'anything' | 'nothing' | 'boolean' | 'null' }
  | {
      readonly kind: 'string'
      readonly minLength: number | undefined
      readonly maxLength: number | undefined
      readonly pattern: string | undefined
    }
  | NumberNode
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'not'; readonly schema: Json }
  | { readonly kind: 'condition'; readonly text: string }
  | { readonly kind: 'combined'; readonly criterion: Criterion; readonly schemas: readonly Json[] }
  | ObjectNode
  | ArrayNode

export type Criterion = 'allOf' | 'anyOf' | 'oneOf'

export interface NumberNode {
  readonly kind: 'number'
  readonly integer: boolean
  readonly minimum: number | undefined
  readonly maximum: number | undefined
  readonly exclusiveMinimum: number | undefined
  readonly exclusiveMaximum: number | undefined
  readonly multipleOf: number | undefined
}

/** `true`, `false` or a schema for what is not named. */
export interface ObjectNode {
  readonly kind: 'object'
  readonly properties: ReadonlyMap<string, Json>
  readonly patterns: readonly (readonly [string, Json])[]
  readonly additional: Json
  readonly required: ReadonlySet<string>
  readonly needs: ReadonlyMap<string, ReadonlySet<string>>
  readonly dependent: ReadonlyMap<string, Json>
  readonly minProperties: number | undefined
  readonly maxProperties: number | undefined
}

export interface ArrayNode {
  readonly kind: 'array'
  /** Of every item, or undefined. */
  readonly every: Json | undefined
  readonly items: readonly Json[]
  readonly additional: Json
  readonly minItems: number | undefined
  readonly maxItems: number | undefined
  readonly unique: boolean
  readonly contains: Json | undefined
  readonly minContains: number | undefined
  readonly maxContains: number | undefined
}

const STRING_WORDS = ['minLength', 'maxLength', 'pattern']
const NUMBER_WORDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']
const ARRAY_WORDS = [
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'minItems',
  'maxItems',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
]
const OBJECT_WORDS = [
  'properties',
  'required',
  'minProperties',
  'maxProperties',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
]
const TYPE_WORDS = [ARRAY_WORDS, OBJECT_WORDS, NUMBER_WORDS, STRING_WORDS]

/** What `json` demands; a `$ref` is followed, its siblings do not count (draft 7 and before). */
export function nodeOf(json: Json, documents: Documents): SchemaNode {
  let at = json
  for (let steps = 0; isObject(at) && typeof at.$ref === 'string'; steps++) {
    // a chain of references that ends nowhere demands nothing
    if (steps > 100) return { kind: 'anything' }
    at = documents.resolve(at)
  }
  if (at === false) return { kind: 'nothing' }
  if (!isObject(at)) return { kind: 'anything' }
  let node = documents.nodes.get(at)
  if (node === undefined) {
    const parts = partsOf(at)
    node =
      parts.length === 0
        ? { kind: 'anything' }
        : parts.length === 1
          ? single(parts[0])
          : { kind: 'combined', criterion: 'allOf', schemas: parts }
    documents.nodes.set(at, node)
  }
  return node
}

/** The schema in parts of which each demands one kind of thing. */
function partsOf(json: JsonObject): JsonObject[] {
  const parts: JsonObject[] = []
  const part = (words: readonly string[], more: JsonObject = {}): void => {
    const found = words.filter((word) => json[word] !== undefined)
    if (found.length > 0 || Object.keys(more).length > 0)
      parts.push({ ...Object.fromEntries(found.map((word) => [word, json[word]])), ...more })
  }
  for (const word of ['enum', 'const', 'allOf', 'anyOf', 'oneOf', 'not']) part([word])
  if (json.if !== undefined) part(['if', 'then', 'else'])
  if (json.type !== undefined) part(TYPE_WORDS.flat(), { type: json.type })
  else
    for (const [i, type] of ['array', 'object', 'number', 'string'].entries())
      if (TYPE_WORDS[i].some((word) => json[word] !== undefined)) part(TYPE_WORDS[i], { type })
  return parts
}

function single(json: JsonObject): SchemaNode {
  if (Array.isArray(json.enum)) return { kind: 'enum', values: json.enum.map((value: Json) => JSON.stringify(value)) }
  if (json.const !== undefined) return { kind: 'enum', values: [JSON.stringify(json.const)] }
  for (const criterion of ['allOf', 'anyOf', 'oneOf'] as const) {
    const schemas = json[criterion]
    if (Array.isArray(schemas)) return { kind: 'combined', criterion, schemas: schemas as readonly Json[] }
  }
  if (json.not !== undefined) return { kind: 'not', schema: json.not }
  if (json.if !== undefined) return { kind: 'condition', text: JSON.stringify([json.if, json.then ?? true, json.else ?? true]) }
  const { type } = json
  if (!Array.isArray(type)) return typed(String(type), json)
  if (type.length === 1) return typed(String(type[0]), json)
  return { kind: 'combined', criterion: 'anyOf', schemas: type.map((name: Json) => Object.assign({}, json, { type: name })) }
}

function typed(type: string, json: JsonObject): SchemaNode {
  switch (type) {
    case 'string':
      return {
        kind: 'string',
        minLength: numberOf(json.minLength),
        maxLength: numberOf(json.maxLength),
        pattern: typeof json.pattern === 'string' ? json.pattern : undefined,
      }
    case 'number':
    case 'integer':
      return numberNode(json, type === 'integer')
    case 'boolean':
    case 'null':
      return { kind: type }
    case 'object':
      return objectNode(json)
    case 'array':
      return arrayNode(json)
    default:
      return { kind: 'anything' }
  }
}

/** Draft 4 has flags that make the bounds exclusive. */
function numberNode(json: JsonObject, integer: boolean): NumberNode {
  const minimum = numberOf(json.minimum)
  const maximum = numberOf(json.maximum)
  const lower = json.exclusiveMinimum === true
  const upper = json.exclusiveMaximum === true
  return {
    kind: 'number',
    integer,
    minimum: lower ? undefined : minimum,
    maximum: upper ? undefined : maximum,
    exclusiveMinimum: lower ? minimum : numberOf(json.exclusiveMinimum),
    exclusiveMaximum: upper ? maximum : numberOf(json.exclusiveMaximum),
    multipleOf: numberOf(json.multipleOf),
  }
}

function objectNode(json: JsonObject): ObjectNode {
  const needs = new Map<string, ReadonlySet<string>>()
  const dependent = new Map<string, Json>()
  for (const word of ['dependencies', 'dependentRequired', 'dependentSchemas']) {
    for (const [name, value] of entriesOf(json[word])) {
      if (Array.isArray(value)) needs.set(name, new Set(value.map(String)))
      else dependent.set(name, value)
    }
  }
  return {
    kind: 'object',
    properties: new Map(entriesOf(json.properties)),
    patterns: entriesOf(json.patternProperties),
    additional: json.additionalProperties ?? json.unevaluatedProperties ?? true,
    required: new Set(Array.isArray(json.required) ? json.required.map(String) : []),
    needs,
    dependent,
    minProperties: numberOf(json.minProperties),
    maxProperties: numberOf(json.maxProperties),
  }
}

/** Since draft 2020-12 `prefixItems` has the items by position, and `items` is for those behind them. */
function arrayNode(json: JsonObject): ArrayNode {
  const prefix = Array.isArray(json.prefixItems) ? (json.prefixItems as readonly Json[]) : undefined
  const items = Array.isArray(json.items) ? (json.items as readonly Json[]) : (prefix ?? [])
  const every = prefix === undefined && !Array.isArray(json.items) ? (json.items as Json | undefined) : undefined
  const behind = prefix === undefined ? json.additionalItems : (json.items as Json | undefined)
  return {
    kind: 'array',
    every,
    items,
    additional: behind ?? json.unevaluatedItems ?? true,
    minItems: numberOf(json.minItems),
    maxItems: numberOf(json.maxItems),
    unique: json.uniqueItems === true,
    contains: json.contains,
    minContains: numberOf(json.minContains),
    maxContains: numberOf(json.maxContains),
  }
}

function numberOf(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : isRawNumber(value) ? Number(value.rawJSON) : undefined
}

function entriesOf(value: Json | undefined): (readonly [string, Json])[] {
  return value !== undefined && isObject(value) ? Object.entries(value) : []
}
