import { FIRST_RECIPE, type Typing } from '../../schemas/typing/typing.ts'
import { blobColumn, type RowSource } from '../parquet/rowGroupReader.ts'
import { corrupt } from '../parquet/thriftRead.ts'
import { Rebuild } from './rebuild.ts'

/** Key and value of a row, from their strings, their bytes, or their columns; reused row by row. A null starts at -1. */
export class RowBlobs {
  key: Uint8Array | null = null
  keyStart = -1
  keyEnd = -1
  value: Uint8Array | null = null
  valueStart = -1
  valueEnd = -1
  /** Forms of the row. */
  keyForm = 0
  valueForm = 0
  readonly #source: RowSource
  readonly #rebuild: Rebuild | null

  constructor(source: RowSource, typing: Typing | null) {
    this.#source = source
    this.#rebuild = typing === null ? null : new Rebuild(typing, source.columns)
  }

  /** Reads row i of the block. Errors: CORRUPT. */
  read(i: number, offset: number): void {
    const { keyForm, key, keyBytes, valueForm, value, valueBytes } = this.#source
    this.keyForm = keyForm.values[keyForm.at + i]
    this.valueForm = valueForm.values[valueForm.at + i]
    if (this.keyForm >= FIRST_RECIPE) {
      const output = this.#typed(offset).run('key', this.keyForm, i)
      this.key = output.buf
      this.keyStart = 0
      this.keyEnd = output.at
    } else {
      const column = blobColumn(keyForm, key, keyBytes, i, offset)
      this.key = column === null ? null : column.bytes
      this.keyStart = column === null ? -1 : column.starts[column.at + i]
      this.keyEnd = column === null ? -1 : this.keyStart + column.lengths[column.at + i]
    }
    if (this.valueForm >= FIRST_RECIPE) {
      const output = this.#typed(offset).run('value', this.valueForm, i)
      this.value = output.buf
      this.valueStart = 0
      this.valueEnd = output.at
    } else {
      const column = blobColumn(valueForm, value, valueBytes, i, offset)
      this.value = column === null ? null : column.bytes
      this.valueStart = column === null ? -1 : column.starts[column.at + i]
      this.valueEnd = column === null ? -1 : this.valueStart + column.lengths[column.at + i]
    }
  }

  #typed(offset: number): Rebuild {
    return this.#rebuild ?? noTyping(offset)
  }
}

function noTyping(offset: number): never {
  throw corrupt(`offset ${offset} comes back from columns, and the table has no recipes`)
}
