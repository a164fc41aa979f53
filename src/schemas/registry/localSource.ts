import { FrazilError } from '../../base/errors.ts'
import type { SchemaContentView } from '../../metadata/view.ts'
import type { ResolvedSchema, ResolvedVersion, SchemaSource } from '../source.ts'
import { DEFAULT_CONTEXT, parseSubject } from './names.ts'
import type { SchemaStore } from './store.ts'

/** Frazil's own registry as a source. What is not there is asked for again behind a barrier: another pod may have it already. */
export class LocalSchemaSource implements SchemaSource {
  readonly #store: SchemaStore

  constructor(store: SchemaStore) {
    this.#store = store
  }

  async byId(id: number, subject?: string): Promise<ResolvedSchema | null> {
    const { context } = subject === undefined ? { context: DEFAULT_CONTEXT } : parseSubject(subject)
    const content = await this.#find(() => this.#store.view.content(context, id))
    return content === null ? null : this.#resolved(content)
  }

  async byGuid(guid: string): Promise<ResolvedSchema | null> {
    const content = await this.#find(() => {
      for (const context of this.#store.view.contexts()) {
        const found = this.#store.view.contentByGuid(context, guid)
        if (found !== null) return found
      }
      return null
    })
    return content === null ? null : this.#resolved(content)
  }

  async latest(subject: string): Promise<ResolvedVersion | null> {
    const name = parseSubject(subject)
    await this.#barrier()
    const version = this.#store.versions(name).at(-1)
    if (version === undefined) return null
    return { ...this.#resolved(this.#store.contentOf(name, version)), subject, version: version.version }
  }

  async #find(look: () => SchemaContentView | null): Promise<SchemaContentView | null> {
    const found = look()
    if (found !== null) return found
    await this.#barrier()
    return look()
  }

  async #barrier(): Promise<void> {
    try {
      await this.#store.metadata.barrier()
    } catch (error) {
      throw new FrazilError('SCHEMA_REGISTRY_UNAVAILABLE', 'the schema registry cannot be read now', error)
    }
  }

  #resolved(content: SchemaContentView): ResolvedSchema {
    const { type, schema, references } = this.#store.body(content)
    return { id: content.id, guid: content.guid, type, schema, references: this.#store.resolve(references, content.context) }
  }
}
