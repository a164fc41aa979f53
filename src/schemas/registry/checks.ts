import { WorkerPool } from '../../base/workers.ts'
import { type CheckTask, runCheck, type SchemaText } from './check.ts'
import type { Compatibility } from './settings.ts'

const WORKER = new URL('./checkWorker' + (import.meta.url.endsWith('.ts') ? '.ts' : '.js'), import.meta.url)

/** Texts up to this size together take some milliseconds at most, and stay on the event loop. */
const INLINE_CHARS = 32 * 1024

/** The work of the languages; large schemas go to a worker. Errors: SCHEMA_INVALID. */
export class SchemaChecks {
  readonly #pool = new WorkerPool(WORKER, { size: 1 })

  /** The text to keep. */
  canonical(text: SchemaText, normalize: boolean): Promise<string> {
    return this.#run({ kind: 'canonical', text, normalize }, [text])
  }

  /** `previous` ascending by version; a sentence for everything that speaks against `next`. */
  async incompatibilities(level: Compatibility, next: SchemaText, previous: readonly SchemaText[]): Promise<string[]> {
    if (level === 'NONE' || previous.length === 0) return []
    const compared = level.endsWith('_TRANSITIVE') ? previous.toReversed() : previous.slice(-1)
    return this.#run({ kind: 'incompatibilities', level, next, compared }, [next, ...compared])
  }

  /** The descriptor of a Protobuf schema; others have one form only. */
  serialized(text: SchemaText): Promise<string> {
    return this.#run({ kind: 'serialized', text }, [text])
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  async #run<T>(task: CheckTask, texts: readonly SchemaText[]): Promise<T> {
    let chars = 0
    for (const { schema, references } of texts)
      chars += schema.length + references.reduce((sum, reference) => sum + reference.schema.length, 0)
    return chars <= INLINE_CHARS ? (runCheck(task) as T) : this.#pool.run<T>(task)
  }
}
