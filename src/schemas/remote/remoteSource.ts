import { LRUCache } from 'lru-cache'
import { FrazilError } from '../../base/errors.ts'
import { guidOf } from '../registry/body.ts'
import type { ResolvedReference, ResolvedSchema, ResolvedVersion, SchemaSource, SchemaType } from '../source.ts'
import { getJson, type RegistryAddress } from './client.ts'

const CACHE_BYTES = 32 * 1024 * 1024
const REFERENCES_MAX = 1000

interface Reference {
  readonly name: string
  readonly subject: string
  readonly version: number
}
interface Fetched {
  readonly guid: string
  readonly type: SchemaType
  readonly schema: string
  readonly references: readonly Reference[]
}

/** An outside registry that speaks Confluent's API. What an id means never changes, so it is asked for once. */
export class RemoteSchemaSource implements SchemaSource {
  readonly #address: RegistryAddress
  readonly #known = new LRUCache<string, ResolvedSchema>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ schema, references }) =>
      2 * references.reduce((sum, reference) => sum + reference.schema.length, schema.length) + 500,
  })
  /** Asked for at this moment: everybody waits for the same answer. */
  readonly #running = new Map<string, Promise<ResolvedSchema | null>>()

  constructor(address: RegistryAddress) {
    this.#address = address
  }

  byId(id: number, subject?: string): Promise<ResolvedSchema | null> {
    const context = /^:[^:]*:/.exec(subject ?? '')?.[0] ?? ''
    const query = context === '' ? '' : `?subject=${encodeURIComponent(context)}`
    return this.#once(`${context}${id}`, async () => {
      const answer = await getJson(this.#address, `/schemas/ids/${id}${query}`)
      return answer === null ? null : this.#resolved(id, this.#read(answer), context)
    })
  }

  byGuid(guid: string): Promise<ResolvedSchema | null> {
    return this.#once(guid, async () => {
      const answer = await getJson(this.#address, `/schemas/guids/${encodeURIComponent(guid)}`)
      if (answer === null) return null
      return this.#resolved(typeof answer.id === 'number' ? answer.id : 0, { ...this.#read(answer), guid }, '')
    })
  }

  async latest(subject: string): Promise<ResolvedVersion | null> {
    const answer = await getJson(this.#address, `/subjects/${encodeURIComponent(subject)}/versions/latest`)
    if (answer === null) return null
    const { id, version } = answer
    if (typeof id !== 'number' || typeof version !== 'number') throw this.#strange()
    const context = /^:[^:]*:/.exec(subject)?.[0] ?? ''
    return { ...(await this.#resolved(id, this.#read(answer), context)), subject, version }
  }

  #once(key: string, ask: () => Promise<ResolvedSchema | null>): Promise<ResolvedSchema | null> {
    const known = this.#known.get(key)
    if (known !== undefined) return Promise.resolve(known)
    let running = this.#running.get(key)
    if (running === undefined) {
      running = ask()
        .then((schema) => {
          if (schema !== null) this.#known.set(key, schema)
          return schema
        })
        .finally(() => this.#running.delete(key))
      this.#running.set(key, running)
    }
    return running
  }

  async #resolved(id: number, { guid, type, schema, references }: Fetched, context: string): Promise<ResolvedSchema> {
    const found = new Map<string, ResolvedReference>()
    const visiting = new Set<string>()
    const visit = async (list: readonly Reference[], within: string): Promise<void> => {
      for (const { name, subject, version } of list) {
        if (found.has(name) || visiting.has(name)) continue
        const qualified = subject.startsWith(':') ? subject : `${within}${subject}`
        const answer = await getJson(this.#address, `/subjects/${encodeURIComponent(qualified)}/versions/${version}?deleted=true`)
        if (answer === null)
          throw new FrazilError(
            'SCHEMA_INVALID',
            `the reference "${name}" of schema ${id} leads to version ${version} of "${subject}", which does not exist`,
          )
        const fetched = this.#read(answer)
        visiting.add(name)
        await visit(fetched.references, /^:[^:]*:/.exec(qualified)?.[0] ?? '')
        if (found.size >= REFERENCES_MAX) throw new FrazilError('SCHEMA_INVALID', `schema ${id} has more than ${REFERENCES_MAX} references`)
        found.set(name, { name, subject, version, schema: fetched.schema })
      }
    }
    await visit(references, context)
    return { id, guid, type, schema, references: [...found.values()] }
  }

  #read(answer: Readonly<Record<string, unknown>>): Fetched {
    const { schema, schemaType, references, guid } = answer
    const type = schemaType ?? 'AVRO'
    if (typeof schema !== 'string' || (type !== 'AVRO' && type !== 'PROTOBUF' && type !== 'JSON')) throw this.#strange()
    const list = ((references ?? []) as unknown[]).map((item) => {
      const { name, subject, version } = (item ?? {}) as Partial<Reference>
      if (typeof name !== 'string' || typeof subject !== 'string' || typeof version !== 'number') throw this.#strange()
      return { name, subject, version }
    })
    return { type, schema, references: list, guid: typeof guid === 'string' ? guid : guidOf({ type, schema, references: list }) }
  }

  #strange(): FrazilError {
    return new FrazilError('SCHEMA_REGISTRY_UNAVAILABLE', `the schema registry at ${this.#address.url} answers with what is no schema`)
  }
}
