import type { TopicSettings } from '../base/config/topicSettings.ts'
import type { StateView, TableView, TopicView } from '../metadata/view.ts'
import { badRequest, noSuchNamespace, noSuchTable } from './errors.ts'

/** Levels of a namespace are joined with this in a path (REST spec). Frazil's namespaces have one level. */
const SEPARATOR = '\u001f'
const ALWAYS = 'default'
const PAGE_MAX = 10_000

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextPageToken: string | null
}

/** The tables that are published: those of topics with `table.enable` and `iceberg` in `table.formats`, and kept ones of deleted topics. */
export class Directory {
  readonly #state: StateView
  readonly #settings: (topic: TopicView) => TopicSettings

  constructor(options: { readonly state: StateView; readonly settings: (topic: TopicView) => TopicSettings }) {
    this.#state = options.state
    this.#settings = options.settings
  }

  namespaces(): string[] {
    const names = new Set([ALWAYS])
    for (const table of this.#state.tables()) if (this.#isPublished(table)) names.add(table.namespace)
    return [...names].toSorted(byText)
  }

  /** The one level of a namespace in a path; 404 when there is none of that name. */
  namespace(path: string): string {
    const found = path.includes(SEPARATOR) ? undefined : this.namespaces().find((name) => name.toLowerCase() === path.toLowerCase())
    if (found === undefined) throw noSuchNamespace(path.split(SEPARATOR).join('.'))
    return found
  }

  tables(namespace: string): string[] {
    const names: string[] = []
    for (const table of this.#state.tables()) if (table.namespace === namespace && this.#isPublished(table)) names.push(table.name)
    return names.toSorted(byText)
  }

  /** A published table and its topic, which is null for a kept table. 404 when there is none. */
  table(namespacePath: string, name: string): { readonly table: TableView; readonly topic: TopicView | null } {
    const table = namespacePath.includes(SEPARATOR) ? null : this.#state.tableByName(namespacePath, name)
    if (table === null || !this.#isPublished(table)) throw noSuchTable(namespacePath.split(SEPARATOR).join('.'), name)
    return { table, topic: table.topic === 0 ? null : this.#state.topicByNumber(table.topic) }
  }

  #isPublished(table: TableView): boolean {
    if (table.topic === 0) return table.metadataKey !== ''
    const topic = this.#state.topicByNumber(table.topic)
    if (topic === null) return false
    const { enable, formats } = this.#settings(topic).table
    return enable && formats.has('iceberg')
  }
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** A page of sorted names; the token is the last name of the page before. */
export function page(names: readonly string[], query: { readonly pageToken?: string; readonly pageSize?: string }): Page<string> {
  const after = query.pageToken ?? ''
  const rest = after === '' ? names : names.filter((name) => name > after)
  if (query.pageSize === undefined) return { items: rest, nextPageToken: null }
  const size = Number(query.pageSize)
  if (!Number.isInteger(size) || size < 1) throw badRequest('pageSize must be a positive number')
  const items = rest.slice(0, Math.min(size, PAGE_MAX))
  return { items, nextPageToken: items.length < rest.length ? items.at(-1)! : null }
}
