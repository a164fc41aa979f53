import type { Leaf } from './schema.ts'

/**
 * Definition and repetition levels of a leaf's open page. A class of its own, so that code which every value passes
 * through meets one class, whatever the types of the columns: looked up by name it cost more than the value.
 */
export class Levels {
  count = 0
  rows = 0
  nulls = 0
  /** How often the page's size is looked at: every eighth row, every row once values are large. */
  checkMask = 7
  readonly pageRows: number
  readonly #maxDefinition: number
  readonly #maxRepetition: number
  readonly #check: () => void
  #definition: Uint8Array | null
  #repetition: Uint8Array | null

  /** `check` closes the page if it is full. */
  constructor({ maxDefinition, maxRepetition }: Leaf, pageRows: number, check: () => void) {
    this.pageRows = pageRows
    this.#check = check
    this.#maxDefinition = maxDefinition
    this.#maxRepetition = maxRepetition
    this.#definition = maxDefinition > 0 ? new Uint8Array(1024) : null
    this.#repetition = maxRepetition > 0 ? new Uint8Array(1024) : null
  }

  /** Notes the levels of the next value; closes the page first when it is full and a row begins. */
  begin(definition: number, repetition: number): void {
    if (repetition === 0) {
      if (this.rows >= this.pageRows || (this.rows & this.checkMask) === 0) this.#check()
      this.rows++
    }
    const at = this.count
    if (this.#definition !== null) {
      if (at === this.#definition.length) {
        this.#definition = grown(this.#definition)
        if (this.#repetition !== null) this.#repetition = grown(this.#repetition)
      }
      this.#definition[at] = definition
      if (this.#repetition !== null) this.#repetition[at] = repetition
    }
    this.count = at + 1
  }

  /** What the page's header and body have of them. */
  page() {
    return {
      count: this.count,
      rows: this.rows,
      nulls: this.nulls,
      definition: this.#definition,
      maxDefinition: this.#maxDefinition,
      repetition: this.#repetition,
      maxRepetition: this.#maxRepetition,
    }
  }
}

function grown(array: Uint8Array): Uint8Array {
  const larger = new Uint8Array(array.length * 2)
  larger.set(array)
  return larger
}
