/**
 * Columns of flat tables (L16). Rows are addressed by slot; a column grows by whole pages, so growth never copies what is
 * there and never pauses the event loop, and a table of a million rows is a few hundred objects for the collector.
 */
const PAGE_BITS = 12
const PAGE_ROWS = 1 << PAGE_BITS
const PAGE_MASK = PAGE_ROWS - 1

export class F64Column {
  readonly #pages: Float64Array[] = []

  grow(rows: number): void {
    while (this.#pages.length << PAGE_BITS < rows) this.#pages.push(new Float64Array(PAGE_ROWS))
  }

  get(slot: number): number {
    return this.#pages[slot >>> PAGE_BITS][slot & PAGE_MASK]
  }

  set(slot: number, value: number): void {
    this.#pages[slot >>> PAGE_BITS][slot & PAGE_MASK] = value
  }

  add(slot: number, value: number): void {
    this.#pages[slot >>> PAGE_BITS][slot & PAGE_MASK] += value
  }

  get sizeBytes(): number {
    return this.#pages.length * PAGE_ROWS * 8
  }
}

export class U32Column {
  readonly #pages: Uint32Array[] = []

  grow(rows: number): void {
    while (this.#pages.length << PAGE_BITS < rows) this.#pages.push(new Uint32Array(PAGE_ROWS))
  }

  get(slot: number): number {
    return this.#pages[slot >>> PAGE_BITS][slot & PAGE_MASK]
  }

  set(slot: number, value: number): void {
    this.#pages[slot >>> PAGE_BITS][slot & PAGE_MASK] = value
  }

  add(slot: number, value: number): void {
    this.#pages[slot >>> PAGE_BITS][slot & PAGE_MASK] += value
  }

  get sizeBytes(): number {
    return this.#pages.length * PAGE_ROWS * 4
  }
}

/** Gives out slots: freed ones first (a list through a column of the table that is otherwise unused while free), then new ones. */
export class SlotAllocator {
  readonly #next: U32Column
  readonly #grow: (rows: number) => void
  /** Slot + 1 of the first free one; 0 for none. */
  #free = 0
  #rows = 0
  #used = 0

  constructor(next: U32Column, grow: (rows: number) => void) {
    this.#next = next
    this.#grow = grow
  }

  /** Rows in use. */
  get used(): number {
    return this.#used
  }

  /** One above the highest slot ever given. */
  get rows(): number {
    return this.#rows
  }

  take(): number {
    this.#used++
    if (this.#free !== 0) {
      const slot = this.#free - 1
      this.#free = this.#next.get(slot)
      return slot
    }
    const slot = this.#rows++
    this.#grow(this.#rows)
    return slot
  }

  give(slot: number): void {
    this.#used--
    this.#next.set(slot, this.#free)
    this.#free = slot + 1
  }
}
