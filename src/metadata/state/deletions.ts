import type { Deletion } from '../view.ts'

/** Keys waiting to be deleted (L13), by id. */
export class Deletions {
  nextId = 1
  readonly byId = new Map<number, Deletion>()
  /** Until when nothing may be deleted (wall, ms), by name. */
  readonly holds = new Map<string, number>()
  readonly #keys = new Map<string, number>()

  /** Queues a key once; asked again, the earlier date holds. */
  add(key: string, dueMs: number): void {
    if (this.#keys.has(key)) return
    this.restore({ id: this.nextId++, key, dueMs })
  }

  restore(item: Deletion): void {
    this.byId.set(item.id, item)
    this.#keys.set(item.key, item.id)
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  remove(id: number): void {
    const item = this.byId.get(id)
    if (item === undefined) return
    this.byId.delete(id)
    this.#keys.delete(item.key)
  }
}
