import type { WalObject } from '../view.ts'

export class WalObjectRow implements WalObject {
  readonly id: number
  readonly key: string
  readonly entry: number
  readonly entryOffset: number
  readonly sizeBytes: number
  readonly segment: boolean
  readonly createdMs: number
  liveBytes: number

  constructor(row: WalObject) {
    this.id = row.id
    this.key = row.key
    this.entry = row.entry
    this.entryOffset = row.entryOffset
    this.sizeBytes = row.sizeBytes
    this.segment = row.segment
    this.createdMs = row.createdMs
    this.liveBytes = row.liveBytes
  }
}

/** Live WAL objects by id, which is also the order in which they came. */
export class WalObjects {
  nextId = 1
  readonly byId = new Map<number, WalObjectRow>()
  /** Ids of those that ride inside entries, oldest first. */
  readonly #inline = new Set<number>()
  readonly #keys = new Set<string>()
  #bytes = 0

  add(row: WalObject): void {
    this.byId.set(row.id, new WalObjectRow(row))
    this.#bytes += row.sizeBytes
    if (row.key === '') this.#inline.add(row.id)
    else this.#keys.add(row.key)
  }

  remove(object: WalObjectRow): void {
    this.byId.delete(object.id)
    this.#bytes -= object.sizeBytes
    if (object.key === '') this.#inline.delete(object.id)
    else this.#keys.delete(object.key)
  }

  hasKey(key: string): boolean {
    return this.#keys.has(key)
  }

  get sizeBytes(): number {
    return this.#bytes
  }

  /** The oldest entry whose attachment is still read from (L10), or Infinity. */
  oldestInlineEntry(): number {
    for (const id of this.#inline) return this.byId.get(id)!.entry
    return Infinity
  }
}
