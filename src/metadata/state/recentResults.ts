import type { Result } from '../commands.ts'

const KEPT = 16

/** Results of the latest proposals, for those that are asked again (L1). Memory only: it never decides anything. */
export class RecentResults {
  readonly #items: { readonly incarnation: number; readonly sequence: number; readonly result: Result }[] = []
  #next = 0

  push(incarnation: number, sequence: number, result: Result): void {
    this.#items[this.#next] = { incarnation, sequence, result }
    this.#next = (this.#next + 1) % KEPT
  }

  find(incarnation: number, sequence: number): Result | null {
    return this.#items.find((item) => item.incarnation === incarnation && item.sequence === sequence)?.result ?? null
  }
}
