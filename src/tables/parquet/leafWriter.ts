import { Encoding, type ColumnStatistics } from './footer.ts'
import { dataPage, type PageContext, type StoredPage } from './page.ts'
import { Levels } from './levels.ts'
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
  protected readonly levels: Levels
  protected readonly context: PageContext
  readonly #pageBytes: number
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
    this.#pageBytes = context.limits.pageBytes
    this.levels = new Levels(leaf, context.limits.pageRows, () => this.#closeFull())
    if (context.limits.pageBytes < CHECKED_PAGE_BYTES) this.levels.checkMask = 0
  }

  /** A null (or, in a nested column, an empty or null list) at this definition level. */
  absent(definition: number, repetition: number): void {
    const { levels } = this
    levels.begin(definition, repetition)
    levels.nulls++
  }

  /**
   * Notes where the leaf stands: numbers go to `marks` from `at` on, their end is returned. `restore` takes back all that
   * was put since, so that a value that turns out not to be as its schema says leaves nothing. A mark at the start of a
   * row stays good for that row: a full page is closed here.
   */
  save(marks: number[], at: number, atRow: boolean): number {
    if (atRow) this.#closeFull()
    const { levels } = this
    marks[at] = levels.count
    marks[at + 1] = levels.rows
    marks[at + 2] = levels.nulls
    return this.saveValues(marks, at + 3)
  }

  /** Takes back to what `save` noted at `at`; the end of its numbers. */
  restore(marks: readonly number[], at: number): number {
    const { levels } = this
    levels.count = marks[at]
    levels.rows = marks[at + 1]
    levels.nulls = marks[at + 2]
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

  /** Values are large from here on: the page's size is looked at with every row. */
  protected checkPage(): void {
    this.levels.checkMask = 0
  }

  #closeFull(): void {
    const { rows, pageRows, checkMask } = this.levels
    if (rows >= pageRows || ((rows & checkMask) === 0 && this.pendingBytes() >= this.#pageBytes)) this.#finishPage()
  }

  #finishPage(): void {
    const { levels } = this
    if (levels.count === 0) return
    const rawBytes = this.pendingBytes()
    const { values, encoding } = this.encodePage()
    const page = dataPage(this.context, levels.page(), values, encoding, this.#chunkRows)
    const storedBytes = page.head.length + page.body.length
    this.#encodings.add(encoding)
    this.#pages.push(page)
    this.#pageBounds.push({ ...this.takePageBounds(), nulls: levels.nulls })
    this.#storedBytes += storedBytes
    if (rawBytes > 0) this.#ratio = Math.min(1, storedBytes / rawBytes)
    this.#chunkRows += levels.rows
    this.#chunkLevels += levels.count
    this.#chunkNulls += levels.nulls
    levels.count = levels.rows = levels.nulls = 0
  }
}
