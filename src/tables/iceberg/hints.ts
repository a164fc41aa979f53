import { Gauge, type Registry } from 'prom-client'
import type { Logger } from '../../base/log.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { layout, stemOf } from './layout.ts'

/**
 * Version hints of tables: `<table>/_iceberg/metadata/version-hint.text` holds the stem of the current metadata file, with
 * which DuckDB opens the folder by path. Written after the commit, one at a time per table, the newest wins.
 */
export class Hints {
  readonly #store: ObjectStore
  readonly #logger: Logger
  readonly #pending = new Map<string, { body: string; writing: Promise<void> | null }>()

  constructor(options: { readonly store: ObjectStore; readonly logger: Logger; readonly registry: Registry }) {
    this.#store = options.store
    this.#logger = options.logger
    const pending = this.#pending
    options.registry.registerMetric(
      new Gauge({
        name: 'frazil_table_hints_behind',
        help: 'Tables whose version hint is not yet the current publication',
        registers: [],
        collect() {
          this.set(pending.size)
        },
      }),
    )
  }

  /** Points the hint of a table at a publication, soon. */
  point(location: string, metadataKey: string): void {
    const body = stemOf(metadataKey)
    const pending = this.#pending.get(location)
    if (pending !== undefined) {
      pending.body = body
      return
    }
    const hint = { body, writing: null as Promise<void> | null }
    this.#pending.set(location, hint)
    hint.writing = this.#write(location, hint)
  }

  /** Resolves when no hint is on its way. */
  async settle(): Promise<void> {
    await Promise.all([...this.#pending.values()].map((hint) => hint.writing))
  }

  async #write(location: string, hint: { body: string }): Promise<void> {
    try {
      for (let written = ''; written !== hint.body;) {
        written = hint.body
        await this.#store.put(layout.hint(location), Buffer.from(written), { reason: 'metadata' })
      }
    } catch (error) {
      // Only a hint: readers by path see the publication before, and the next one writes it again.
      this.#logger.warn({ err: error, location }, 'the version hint of a table could not be written')
    } finally {
      this.#pending.delete(location)
    }
  }
}
