import { Encoding, type ColumnStatistics } from './footer.ts'
import { dataPage, type PageContext, type StoredPage } from './page.ts'
import type { Leaf } from './schema.ts'

/** Pages that are this small are kept to their size. */
const CHECKED_PAGE_BYTES = 64 * 1024

/** What a finished column chunk is made of; `dictionary` comes first in the file. */
export interface StoredChunk {
  readonly leaf: Leaf
  readonly dictionary: StoredPage | null
  readonly pages: readonly StoredPage[]
  readonly pageBounds: readonly PageBounds[]
  readonly encodings: readonly number[]
  readonly levels: number
  readonly statistics: ColumnStatistics
}

/** Bounds of one page for the column index; `min` null when all values are null, `max` null when it has no bound. */
export interface PageBounds {
  readonly min: Uint8Array | null
  readonly max: Uint8Array | null
  readonly nulls: number
}

/** Bounds of a whole file's column as Iceberg's single-value bytes. */
export interface ColumnBounds {
  readonly lower: Uint8Array
  readonly upper: Uint8Array | undefined
}

/**
 * Builds the column chunk of one leaf: values and levels gather in an open page, full pages are encoded and compressed at
 * once, so that a row group costs what it takes as stored. Pages begin at rows, also in nested columns (hazard I13).
 */
export abstract class LeafWriter {
  readonly leaf: Leaf
  protected readonly context: PageContext
  readonly #pageRows: number
  readonly #pageBytes: number
  /** How often the page's size is looked at: every eighth row, every row once values are large. */
  #checkMask: number
  #levels = 0
  #rows = 0
  #nulls = 0
  #definition: Uint8Array | null
  #repetition: Uint8Array | null
  #pages: StoredPage[] = []
  #pageBounds: PageBounds[] = []
  #encodings = new Set<number>()
  #chunkRows = 0
  #chunkLevels = 0
  #chunkNulls = 0
  #storedBytes = 0
  /** Stored over raw bytes of the last page: what the open page will come to. */
  #ratio = 1

  constructor(leaf: Leaf, context: PageContext) {
    this.leaf = leaf
    this.context = context
    this.#pageRows = context.limits.pageRows
    this.#pageBytes = context.limits.pageBytes
    this.#checkMask = context.limits.pageBytes < CHECKED_PAGE_BYTES ? 0 : 7
    this.#definition = leaf.maxDefinition > 0 ? new Uint8Array(1024) : null
    this.#repetition = leaf.maxRepetition > 0 ? new Uint8Array(1024) : null
  }

  /** A null (or, in a nested column, an empty or null list) at this definition level. */
  absent(definition: number, repetition: number): void {
    this.begin(definition, repetition)
    this.#nulls++
  }

  /**
   * Notes where the leaf stands: numbers go to `marks` from `at` on, their end is returned. `restore` takes back all that
   * was put since, so that a value that turns out not to be as its schema says leaves nothing. A mark at the start of a
   * row stays good for that row: a full page is closed here.
   */
  save(marks: number[], at: number, atRow: boolean): number {
    if (atRow) this.#closeFull()
    marks[at] = this.#levels
    marks[at + 1] = this.#rows
    marks[at + 2] = this.#nulls
    return this.saveValues(marks, at + 3)
  }

  /** Takes back to what `save` noted at `at`; the end of its numbers. */
  restore(marks: readonly number[], at: number): number {
    this.#levels = marks[at]
    this.#rows = marks[at + 1]
    this.#nulls = marks[at + 2]
    return this.restoreValues(marks, at + 3)
  }

  /** Bytes that the chunk will take as stored, the open page included by estimate. */
  get storedBytes(): number {
    return this.#storedBytes + this.pendingBytes() * this.#ratio
  }

  /** Ends the chunk and begins the next; what it returned is the caller's. */
  finish(): StoredChunk {
    this.#finishPage()
    const dictionary = this.takeDictionary()
    const encodings = [...this.#encodings]
    if (dictionary !== null && !encodings.includes(Encoding.plain)) encodings.push(Encoding.plain)
    if (this.leaf.maxDefinition > 0 && !encodings.includes(Encoding.rle)) encodings.push(Encoding.rle)
    const chunk: StoredChunk = {
      leaf: this.leaf,
      dictionary,
      pages: this.#pages,
      pageBounds: this.#pageBounds,
      encodings,
      levels: this.#chunkLevels,
      statistics: { nullCount: this.#chunkNulls, ...this.takeChunkBounds() },
    }
    this.#pages = []
    this.#pageBounds = []
    this.#encodings = new Set()
    this.#chunkRows = this.#chunkLevels = this.#chunkNulls = this.#storedBytes = 0
    return chunk
  }

  /** Bounds over all chunks so far; null when no value was seen. */
  abstract fileBounds(): ColumnBounds | null
  /** Widens the file's bounds by those of a chunk that is copied from another file. */
  abstract absorb(statistics: ColumnStatistics): void
  protected abstract saveValues(marks: number[], at: number): number
  protected abstract restoreValues(marks: readonly number[], at: number): number
  /** Bytes of values in the open page. */
  protected abstract pendingBytes(): number
  /** Encodes the open page's values into scratch memory. */
  protected abstract encodePage(): { readonly values: Buffer; readonly encoding: number }
  /** Bounds of the open page, which is then emptied. */
  protected abstract takePageBounds(): { readonly min: Uint8Array | null; readonly max: Uint8Array | null }
  protected abstract takeChunkBounds(): Omit<ColumnStatistics, 'nullCount'>
  protected takeDictionary(): StoredPage | null {
    return null
  }

  /** Notes the levels of the next value; closes the page first when it is full and a row begins. */
  protected begin(definition: number, repetition: number): void {
    if (repetition === 0) {
      this.#closeFull()
      this.#rows++
    }
    if (this.#definition !== null) {
      if (this.#levels === this.#definition.length) {
        this.#definition = grown(this.#definition)
        if (this.#repetition !== null) this.#repetition = grown(this.#repetition)
      }
      this.#definition[this.#levels] = definition
      if (this.#repetition !== null) this.#repetition[this.#levels] = repetition
    }
    this.#levels++
  }

  /** Values are large from here on: the page's size is looked at with every row. */
  protected checkPage(): void {
    this.#checkMask = 0
  }

  #closeFull(): void {
    if (this.#rows >= this.#pageRows || ((this.#rows & this.#checkMask) === 0 && this.pendingBytes() >= this.#pageBytes)) this.#finishPage()
  }

  #finishPage(): void {
    if (this.#levels === 0) return
    const levels = {
      count: this.#levels,
      rows: this.#rows,
      nulls: this.#nulls,
      definition: this.#definition,
      maxDefinition: this.leaf.maxDefinition,
      repetition: this.#repetition,
      maxRepetition: this.leaf.maxRepetition,
    }
    const rawBytes = this.pendingBytes()
    const { values, encoding } = this.encodePage()
    const page = dataPage(this.context, levels, values, encoding, this.#chunkRows)
    const storedBytes = page.head.length + page.body.length
    this.#encodings.add(encoding)
    this.#pages.push(page)
    this.#pageBounds.push({ ...this.takePageBounds(), nulls: this.#nulls })
    this.#storedBytes += storedBytes
    if (rawBytes > 0) this.#ratio = Math.min(1, storedBytes / rawBytes)
    this.#chunkRows += this.#rows
    this.#chunkLevels += this.#levels
    this.#chunkNulls += this.#nulls
    this.#levels = this.#rows = this.#nulls = 0
  }
}

function grown(array: Uint8Array): Uint8Array {
  const larger = new Uint8Array(array.length * 2)
  larger.set(array)
  return larger
}
