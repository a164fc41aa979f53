import { Output } from '../../schemas/columns/output.ts'
import { leavesOfPlan } from '../../schemas/columns/plan.ts'
import type { LeafSource } from '../../schemas/columns/ports.ts'
import { columnTree, type ColumnNode } from '../../schemas/columns/tree.ts'
import { compileEncoder } from '../../schemas/typing/compile.ts'
import { FIRST_RECIPE, type Side, type Typing } from '../../schemas/typing/typing.ts'
import { corrupt } from '../parquet/thriftRead.ts'
import type { Column } from '../parquet/columnReader.ts'

interface Ready {
  readonly readers: readonly Column[]
  readonly write: () => void
}

/** Stands for a column that the file does not have: another version of the schema brought it later. */
const MISSING: LeafSource = {
  entry: 0,
  count: 0,
  definition: new Uint8Array(0),
  repetition: new Uint8Array(0),
  valueAt: new Int32Array(0),
  ints: new Int32Array(0),
  data: new Uint8Array(0),
  starts: new Int32Array(0),
}

/** Puts keys and values of one file together from its columns, by the recipes that their rows name. */
export class Rebuild {
  /** The last key that was asked for: the first `at` bytes. */
  readonly key = new Output()
  readonly value = new Output()
  readonly #typing: Typing
  readonly #tree: ReadonlyMap<number, ColumnNode>
  readonly #columns: ReadonlyMap<number, Column>
  readonly #ready = new Map<number, Ready>()

  constructor(typing: Typing, columns: ReadonlyMap<number, Column>) {
    this.#typing = typing
    this.#tree = columnTree(typing.fields)
    this.#columns = columns
  }

  /** Writes the bytes of row `row` of the block into `key` or `value`. Errors: CORRUPT. */
  run(side: Side, form: number, row: number): Output {
    const output = this[side]
    const ready = this.#ready.get(form) ?? this.#make(side, form)
    const { readers } = ready
    for (let i = 0; i < readers.length; i++) readers[i].seek(row)
    output.at = 0
    ready.write()
    return output
  }

  #make(side: Side, form: number): Ready {
    const recipe = this.#typing.recipes[form - FIRST_RECIPE]
    if (recipe === undefined || recipe.side !== side) throw corrupt(`form ${form} is unknown`)
    const source = (id: number): LeafSource => this.#columns.get(id) ?? MISSING
    const ready: Ready = {
      readers: [...leavesOfPlan(recipe.plan, this.#tree)].map((id) => this.#columns.get(id)).filter((reader) => reader !== undefined),
      write: compileEncoder(this.#typing, recipe, { output: this[side], tree: this.#tree, source }),
    }
    this.#ready.set(form, ready)
    return ready
  }
}
