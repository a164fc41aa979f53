import { FrazilError } from '../../../base/errors.ts'
import type { ResolvedReference } from '../../source.ts'
import type { SchemaNode } from './node.ts'
import { isObject, type Json, type JsonObject, parseJson } from '../losslessJson.ts'

/** Keywords whose values are data, not schemas. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example'])
const META = /^https?:\/\/json-schema\.org\/(draft-0\d|draft\/20\d\d-\d\d)\/(hyper-)?schema#?$/
const NO_BASE = 'schema:/'

/** The schema and those it refers to: finds what a `$ref` means (JSON Schema core, "$id", "$ref", "$anchor", "definitions"). */
export class Documents {
  readonly root: Json
  /** What nodeOf made of a schema. */
  readonly nodes = new Map<JsonObject, SchemaNode>()
  readonly #byUri = new Map<string, Json>()
  /** In whose `$id` a schema stands. */
  readonly #bases = new Map<JsonObject, string>()

  /** Errors: SCHEMA_INVALID, also for a `$ref` that leads nowhere. */
  constructor(text: string, references: readonly ResolvedReference[]) {
    this.root = parseJson(text)
    this.#index(this.root, NO_BASE, true)
    const rootBase = this.#bases.get(this.root as JsonObject) ?? NO_BASE
    const parsed = references.map(({ name, schema }) => ({ name, json: parseJson(schema) }))
    for (const { name, json } of parsed) {
      this.#byUri.set(name, json)
      const uri = join(rootBase, name)
      if (!this.#byUri.has(uri)) this.#byUri.set(uri, json)
      this.#index(json, uri, true)
    }
    this.#check(this.root)
    for (const { json } of parsed) this.#check(json)
  }

  /** What the `$ref` of `at` means. Error: SCHEMA_INVALID. */
  resolve(at: JsonObject): Json {
    const ref = at.$ref as string
    if (META.test(ref)) return true
    const base = this.#bases.get(at) ?? NO_BASE
    const hash = ref.indexOf('#')
    const uri = hash < 0 ? ref : ref.slice(0, hash)
    const fragment = hash < 0 ? '' : decode(ref.slice(hash + 1))
    const document = uri === '' ? this.#byUri.get(base) : (this.#byUri.get(join(base, uri)) ?? this.#byUri.get(uri))
    const found =
      document === undefined
        ? undefined
        : fragment === ''
          ? document
          : fragment.startsWith('/')
            ? pointed(document, fragment)
            : this.#byUri.get(`${uri === '' ? base : (this.#baseOf(document) ?? join(base, uri))}#${fragment}`)
    if (found === undefined) throw new FrazilError('SCHEMA_INVALID', `"$ref": "${ref}" leads nowhere: no reference has this name`)
    return found
  }

  #baseOf(document: Json): string | undefined {
    return isObject(document) ? this.#bases.get(document) : undefined
  }

  #index(json: Json, base: string, top: boolean): void {
    if (Array.isArray(json)) for (const item of json) this.#index(item, base, false)
    if (!isObject(json)) {
      if (top) this.#byUri.set(base, json)
      return
    }
    const id = typeof json.$id === 'string' ? json.$id : typeof json.id === 'string' && top ? json.id : undefined
    let own = base
    if (id?.startsWith('#')) this.#byUri.set(`${base}${id}`, json)
    else if (id !== undefined) {
      own = join(base, id.replace(/#$/, ''))
      this.#byUri.set(own, json)
    }
    if (top) this.#byUri.set(base, json)
    this.#bases.set(json, own)
    for (const anchor of [json.$anchor, json.$dynamicAnchor]) if (typeof anchor === 'string') this.#byUri.set(`${own}#${anchor}`, json)
    for (const [name, value] of Object.entries(json)) if (!DATA.has(name)) this.#index(value, own, false)
  }

  #check(json: Json): void {
    if (Array.isArray(json)) for (const item of json) this.#check(item)
    if (!isObject(json)) return
    if (typeof json.$ref === 'string') this.resolve(json)
    for (const [name, value] of Object.entries(json)) if (!DATA.has(name)) this.#check(value)
  }
}

function join(base: string, uri: string): string {
  try {
    return new URL(uri, base).href.replace(/#$/, '')
  } catch {
    return uri
  }
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}

function pointed(document: Json, pointer: string): Json | undefined {
  let at: Json | undefined = document
  for (const part of pointer.slice(1).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(name)] as Json | undefined
    else if (at !== undefined && isObject(at) && Object.hasOwn(at, name)) at = at[name]
    else return undefined
  }
  return at
}
