import type { TableFile, TableView } from '../view.ts'

/** Columns of one range: partition, first offset, last offset, rows, maximum timestamp, produced bytes. */
const COLUMNS = 6
type Range = TableFile['ranges'][number]

export class TableFileRow implements TableFile {
  readonly id: number
  readonly key: string
  readonly sizeBytes: number
  readonly rows: number
  readonly level: number
  readonly table: TableRow
  readonly #ranges: Float64Array

  constructor(
    id: number,
    table: TableRow,
    file: { key: string; sizeBytes: number; rows: number; level: number; ranges: readonly Range[] },
  ) {
    this.id = id
    this.table = table
    this.key = file.key
    this.sizeBytes = file.sizeBytes
    this.rows = file.rows
    this.level = file.level
    this.#ranges = new Float64Array(file.ranges.length * COLUMNS)
    file.ranges.forEach((r, i) =>
      this.#ranges.set([r.partition, r.firstOffset, r.lastOffset, r.rows, r.maxTimestampMs, r.originalBytes], i * COLUMNS),
    )
  }

  get topic(): number {
    return this.table.topic
  }

  get ranges(): readonly Range[] {
    const ranges: Range[] = []
    for (let i = 0; i < this.#ranges.length; i += COLUMNS) {
      const [partition, firstOffset, lastOffset, rows, maxTimestampMs, originalBytes] = this.#ranges.subarray(i, i + COLUMNS)
      ranges.push({ partition, firstOffset, lastOffset, rows, maxTimestampMs, originalBytes })
    }
    return ranges
  }
}

export class TableRow implements TableView {
  readonly uuid: string
  readonly namespace: string
  readonly location: string
  readonly createdMs: number
  topic: number
  name: string
  metadataKey = ''
  version = 0
  publication = 0
  snapshotId = -1
  dataTimeMs = -1
  committedMs = -1
  typingVersion = 0
  typingKey = ''
  readonly fileRows = new Map<number, TableFileRow>()
  readonly fileKeys = new Map<string, number>()

  constructor(row: { uuid: string; topic: number; namespace: string; name: string; location: string; createdMs: number }) {
    this.uuid = row.uuid
    this.topic = row.topic
    this.namespace = row.namespace
    this.name = row.name
    this.location = row.location
    this.createdMs = row.createdMs
  }

  files(): Iterable<TableFile> {
    return this.fileRows.values()
  }

  get fileCount(): number {
    return this.fileRows.size
  }
}

/** Tables, bound to a topic or kept (T20), and the registry of their files. */
export class Tables {
  nextFile = 1
  readonly byUuid = new Map<string, TableRow>()
  readonly byTopic = new Map<number, TableRow>()
  readonly files = new Map<number, TableFileRow>()
  readonly #names = new Map<string, TableRow>()
  readonly #locations = new Map<string, TableRow>()

  add(table: TableRow): void {
    this.byUuid.set(table.uuid, table)
    if (table.topic !== 0) this.byTopic.set(table.topic, table)
    this.#names.set(nameKey(table.namespace, table.name), table)
    this.#locations.set(table.location, table)
  }

  remove(table: TableRow): void {
    for (const id of table.fileRows.keys()) this.files.delete(id)
    this.byUuid.delete(table.uuid)
    if (table.topic !== 0) this.byTopic.delete(table.topic)
    this.#names.delete(nameKey(table.namespace, table.name))
    this.#locations.delete(table.location)
  }

  /** Unbinds a table from its topic and gives it another name. */
  release(table: TableRow, name: string): void {
    this.byTopic.delete(table.topic)
    this.#names.delete(nameKey(table.namespace, table.name))
    table.topic = 0
    table.name = this.freeName(table.namespace, name)
    this.#names.set(nameKey(table.namespace, table.name), table)
  }

  byName(namespace: string, name: string): TableRow | null {
    return this.#names.get(nameKey(namespace, name)) ?? null
  }

  /** The name itself, or with _2, _3, … when it is taken, ignoring case. */
  freeName(namespace: string, name: string): string {
    let free = name
    for (let i = 2; this.#names.has(nameKey(namespace, free)); i++) free = `${name}_${i}`
    return free
  }

  hasLocation(location: string): boolean {
    return this.#locations.has(location)
  }

  /** True for a live file or the current metadata of a table, and for a prefix ('…/') at, below or above a table's location. */
  refersTo(key: string): boolean {
    for (let at = key.indexOf('/'); at >= 0; at = key.indexOf('/', at + 1)) {
      const table = this.#locations.get(key.slice(0, at))
      if (table !== undefined) return key.endsWith('/') || table.metadataKey === key || table.typingKey === key || table.fileKeys.has(key)
    }
    if (!key.endsWith('/')) return false
    for (const location of this.#locations.keys()) if (location.startsWith(key)) return true
    return false
  }

  addFile(file: TableFileRow): void {
    this.files.set(file.id, file)
    file.table.fileRows.set(file.id, file)
    file.table.fileKeys.set(file.key, file.id)
  }

  removeFile(file: TableFileRow): void {
    this.files.delete(file.id)
    file.table.fileRows.delete(file.id)
    file.table.fileKeys.delete(file.key)
  }
}

/** Case is folded as Unicode says, without a locale (L5). */
function nameKey(namespace: string, name: string): string {
  return `${namespace.toLowerCase()}\u0000${name.toLowerCase()}`
}
