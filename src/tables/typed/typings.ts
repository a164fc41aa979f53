import { LRUCache } from 'lru-cache'
import { FrazilError } from '../../base/errors.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TableView } from '../../metadata/view.ts'
import { growTyping, type Newcomer } from '../../schemas/typing/grow.ts'
import { EMPTY_TYPING, parseTyping, printTyping, type Typing } from '../../schemas/typing/typing.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { layout } from '../iceberg/layout.ts'

/** A table's typing as it stands now. `key` and `text` are '' for a table that never had one. */
export interface CurrentTyping {
  readonly version: number
  readonly key: string
  readonly text: string
  readonly typing: Typing
}

export interface TypingsOptions {
  readonly store: ObjectStore
  readonly metadata: Pick<Metadata, 'state' | 'propose'>
  readonly uuid: () => string
}

const NONE: CurrentTyping = { version: 0, key: '', text: '', typing: EMPTY_TYPING }
const CACHE_BYTES = 64 * 1024 * 1024
/** A typing above this takes no more schemas. */
const TYPING_MAX_BYTES = 16 * 1024 * 1024
const ATTEMPTS = 20

/**
 * Typings of tables: each version an immutable object in the table's folder, written before the metadata log names it
 * (T2, T22). Two pods that grow one at once: the later one begins again on the outcome of the other.
 */
export class Typings {
  readonly #options: TypingsOptions
  readonly #cache = new LRUCache<string, CurrentTyping>({ maxSize: CACHE_BYTES, sizeCalculation: ({ text }) => text.length * 3 + 100 })
  readonly #flights = new Map<string, Promise<CurrentTyping>>()

  constructor(options: TypingsOptions) {
    this.#options = options
  }

  /** Errors: STORE_…, CORRUPT. */
  async of({ typingKey, typingVersion }: Pick<TableView, 'typingKey' | 'typingVersion'>): Promise<CurrentTyping> {
    if (typingVersion === 0) return NONE
    const known = this.#cache.get(typingKey)
    if (known !== undefined) return known
    let flight = this.#flights.get(typingKey)
    if (flight === undefined) {
      flight = this.#load(typingKey, typingVersion).finally(() => this.#flights.delete(typingKey))
      this.#flights.set(typingKey, flight)
    }
    return flight
  }

  /** The typing of a topic's table; null when it has none. */
  async ofTopic(topic: number): Promise<CurrentTyping | null> {
    const table = this.#options.metadata.state.table(topic)
    return table === null || table.typingVersion === 0 ? null : this.of(table)
  }

  /**
   * Gives a topic's table recipes for these newcomers; those that cannot be mapped come back with the reason. Errors:
   * REFUSED (the topic is gone), STORE_…, LOG_….
   */
  async grow(topic: number, newcomers: readonly Newcomer[]): Promise<ReturnType<typeof growTyping>['refused']> {
    const { metadata, store, uuid } = this.#options
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const table = metadata.state.table(topic)
      if (table === null) throw new FrazilError('REFUSED', 'the topic is gone')
      const before = (await this.of(table)).typing
      const fresh = newcomers.filter((one) => !before.recipes.some((recipe) => isSame(recipe, one)))
      const { typing, refused } = growTyping(before, fresh)
      if (fresh.length === refused.length) return refused
      const text = printTyping(typing)
      if (text.length > TYPING_MAX_BYTES) {
        const reason = new FrazilError('LIMIT', `the table's schemas would take ${text.length} bytes, it keeps up to ${TYPING_MAX_BYTES}`)
        return fresh.map((newcomer) => ({ newcomer, reason }))
      }
      const version = table.typingVersion + 1
      const key = layout.typing(table.location, version, uuid())
      await store.put(key, [Buffer.from(text)], { reason: 'convert' })
      const result = await metadata.propose({ kind: 'setTableTyping', topic, expectedVersion: table.typingVersion, key })
      if (result.kind === 'table' && result.accepted) {
        this.#cache.set(key, { version, key, text, typing })
        return refused
      }
      await metadata.propose({ kind: 'enqueueDeletions', items: [{ key, graceMs: 0 }] })
    }
    throw new FrazilError('REFUSED', 'the typing of the table changed again and again')
  }

  async #load(key: string, version: number): Promise<CurrentTyping> {
    const { body } = await this.#options.store.get(key, { reason: 'convert' })
    const text = Buffer.from(body).toString()
    const current: CurrentTyping = { version, key, text, typing: parseTyping(text) }
    this.#cache.set(key, current)
    return current
  }
}

function isSame(recipe: Typing['recipes'][number], one: Newcomer): boolean {
  return (
    recipe.side === one.side &&
    recipe.framing === one.framing &&
    recipe.header === one.header &&
    JSON.stringify(recipe.shape) === JSON.stringify(one.shape)
  )
}
