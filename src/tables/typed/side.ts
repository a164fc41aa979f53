import { Input, Undecodable } from '../../schemas/columns/input.ts'
import { leavesOfPlan } from '../../schemas/columns/plan.ts'
import type { LeafSink } from '../../schemas/columns/ports.ts'
import type { ColumnNode } from '../../schemas/columns/tree.ts'
import type { JsonShape } from '../../schemas/json/shape.ts'
import { NotCanonical } from '../../schemas/protobuf/wire.ts'
import { compileDecoder, type Decoder } from '../../schemas/typing/compile.ts'
import { schemaIdOf } from '../../schemas/typing/framing.ts'
import { FIRST_RECIPE, type Recipe, type Side, type Typing } from '../../schemas/typing/typing.ts'
import { handOverOf, StagedLeaf, type HandOver } from './stage.ts'

/** A schema that a value names and the typing does not know. `sample` is the begin of the value, for message indexes. */
export interface UnknownSchema {
  readonly side: Side
  /** -1 for the newer form. */
  readonly id: number
  /** The record header's value, hex; '' for the classic form. */
  readonly header: string
  /** Hex. */
  readonly sample: string
  /** JSON: how texts of a known schema are laid out, and the index of a recipe that has the schema. */
  readonly shape?: JsonShape
  readonly recipe?: number
}

/** Schemas that were asked for and cannot be columns: `<side> <id>` or `<side> <header hex>`. */
export type GivenUp = ReadonlySet<string>

export function unknownKey({ side, id, header, shape }: Pick<UnknownSchema, 'side' | 'id' | 'header' | 'shape'>): string {
  if (shape !== undefined) return `${side} shape ${JSON.stringify(shape)}`
  return header === '' ? `${side} ${id}` : `${side} ${header}`
}

/** Rows of one side of a file: from columns alone, with raw bytes beside them, with raw bytes only though a schema was named. */
export interface SideCounts {
  exact: number
  raw: number
  undecodable: number
}

const SAMPLE_BYTES = 96
/** Shapes of JSON texts that a schema may have in a table: producers that differ in more leave raw bytes. */
const SHAPES_MAX = 12
/** Texts of one file whose shape is looked for in vain. */
const LEARNINGS_MAX = 4
/** Stands for the schema of the topic's setting. */
export const SETTING_ID = -2
const EXACT = 2
const INEXACT = 1
const FAILED = 0
const NOTHING = new Uint8Array(0)

interface Ready {
  readonly form: number
  readonly recipe: Recipe
  readonly framing: Uint8Array
  readonly decoder: Decoder
  readonly handOver: HandOver
  /** The side's leaves that this recipe does not fill. */
  readonly others: readonly LeafSink[]
}

/**
 * One side (keys or values) of the rows of a file: finds the recipe of each value and decodes it into the columns. Every
 * leaf of the side gets its entry for every row, whatever the value is (T4, T5).
 */
export class TypedSide {
  readonly counts: SideCounts = { exact: 0, raw: 0, undecodable: 0 }
  readonly unknown = new Map<string, UnknownSchema>()
  readonly #typing: Typing
  readonly #side: Side
  readonly #tree: ReadonlyMap<number, ColumnNode>
  readonly #sink: (id: number) => LeafSink
  readonly #leaves: readonly number[]
  readonly #sinks: readonly LeafSink[]
  readonly #givenUp: GivenUp
  readonly #isOn: boolean
  readonly #setting: string | null
  #learnings = 0
  readonly #input = new Input()
  readonly #stages = new Map<number, StagedLeaf>()
  readonly #staged: StagedLeaf[] = []
  readonly #ready: (Ready | null)[] = []
  readonly #byId = new Map<number, number[]>()
  readonly #byHeader = new Map<string, number>()
  #event: LeafSink | null = null
  #last: Ready | null = null

  constructor(options: {
    readonly typing: Typing
    readonly side: Side
    readonly tree: ReadonlyMap<number, ColumnNode>
    readonly sink: (id: number) => LeafSink
    readonly givenUp: GivenUp
    /** False: its columns stay null, from here on. */
    readonly isOn: boolean
    /** A JSON Schema that all values of this side are texts of, without any framing. */
    readonly setting?: string | null
  }) {
    const { typing, side, tree, sink } = options
    this.#typing = typing
    this.#side = side
    this.#tree = tree
    this.#sink = sink
    this.#givenUp = options.givenUp
    this.#isOn = options.isOn
    this.#setting = options.setting ?? null
    const keys = new Set(typing.keyColumns)
    this.#leaves = typing.fields.filter((field) => keys.has(field.id) === (side === 'key')).flatMap((field) => tree.get(field.id)!.leaves)
    this.#sinks = this.#leaves.map(sink)
    if (side === 'value' && typing.eventColumn !== 0) this.#event = sink(typing.eventColumn)
    typing.recipes.forEach((recipe, i) => {
      this.#ready.push(null)
      if (recipe.side !== side) return
      if (recipe.header !== '') this.#byHeader.set(recipe.header, i)
      else {
        const framing = Buffer.from(recipe.framing, 'hex')
        const id = schemaIdOf(framing, 0, framing.length)
        const known = this.#byId.get(id)
        if (known === undefined) this.#byId.set(id, [i])
        else known.push(i)
      }
    })
  }

  /** A row without columns on this side. */
  absent(): void {
    for (let i = 0; i < this.#sinks.length; i++) this.#sinks[i].absent(0, 0)
  }

  /**
   * Puts the value [start, end) into its columns. `header` is the value of the schema header of the newer form, or null.
   * Returns its form, when the columns give back exactly these bytes; 0 when the raw bytes are to be kept.
   */
  put(buf: Uint8Array, start: number, end: number, header: Uint8Array | null): number {
    const ready = this.#find(buf, start, end, header)
    if (ready === null) {
      this.absent()
      return 0
    }
    const { others } = ready
    const from = start + ready.framing.length
    let outcome = this.#attempt(ready.decoder, buf, from, end)
    let { form } = ready
    if (outcome === INEXACT && ready.recipe.codec === 'json') {
      form = this.#otherShape(ready, buf, from, end)
      if (form > 0) outcome = EXACT
    }
    if (outcome === FAILED) {
      this.absent()
      this.counts.undecodable++
      return 0
    }
    ready.handOver(this.#input.buf)
    for (let i = 0; i < others.length; i++) others[i].absent(0, 0)
    if (this.#event !== null) this.#putEvent(ready.recipe)
    if (outcome === EXACT) {
      this.counts.exact++
      return form
    }
    this.counts.raw++
    return 0
  }

  /** Decodes into the stages; when that fails they are empty. */
  #attempt(decoder: Decoder, buf: Uint8Array, start: number, end: number): number {
    const input = this.#input
    input.reset(buf, start, end)
    try {
      decoder.read()
      return input.exact ? EXACT : INEXACT
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      this.#clear()
      if (error !== NotCanonical || decoder.normal === null) return FAILED
    }
    try {
      const normal = decoder.normal(buf, start, end)
      input.reset(normal, 0, normal.length)
      decoder.read()
      return INEXACT
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      this.#clear()
      return FAILED
    }
  }

  #clear(): void {
    for (let i = 0; i < this.#staged.length; i++) this.#staged[i].clear()
  }

  /**
   * Tries the other shapes of the same JSON schema on a text that the first one does not give back; its form, or 0. One
   * that no shape gives back shows its own, which the table gets to know when it proves exact. Columns are filled anyway.
   */
  #otherShape(ready: Ready, buf: Uint8Array, start: number, end: number): number {
    const { recipe } = ready
    const siblings = this.#siblings(recipe)
    for (const i of siblings) {
      const other = this.#make(i)
      if (other === ready) continue
      this.#clear()
      if (this.#attempt(other.decoder, buf, start, end) === EXACT) {
        this.#last = other
        return other.form
      }
    }
    this.#clear()
    if (siblings.length <= SHAPES_MAX && this.#learnings < LEARNINGS_MAX) {
      this.#learnings++
      const shape = ready.decoder.learn!(Buffer.from(buf.subarray(start, end)))
      if (shape !== null && !this.#givenUp.has(unknownKey({ side: this.#side, id: -1, header: '', shape }))) {
        const decoder = this.#compile({ ...recipe, shape })
        const outcome = this.#attempt(decoder, buf, start, end)
        if (outcome === EXACT) {
          this.#learnings--
          const base = { side: this.#side, id: -1, header: '', sample: '', shape, recipe: ready.form - FIRST_RECIPE }
          this.unknown.set(unknownKey(base), base)
        }
        if (outcome !== FAILED) return 0
      }
    }
    this.#attempt(ready.decoder, buf, start, end)
    return 0
  }

  /** Recipes of the same schema and framing, which differ in shape. */
  #siblings(recipe: Recipe): number[] {
    const { recipes } = this.#typing
    const found: number[] = []
    recipes.forEach((one, i) => {
      const isSame = one.side === recipe.side && one.framing === recipe.framing && one.header === recipe.header
      if (isSame && one.schema === recipe.schema) found.push(i)
    })
    return found
  }

  /** Notes a schema that is unknown, and nothing else. */
  peek(buf: Uint8Array, start: number, end: number, header: Uint8Array | null): void {
    if (start >= 0) this.#find(buf, start, end, header)
  }

  #putEvent({ typeName }: Recipe): void {
    const bytes = Buffer.from(typeName)
    if (bytes.length === 0) this.#event!.absent(0, 0)
    else this.#event!.bytes(bytes, 0, bytes.length, 0)
  }

  #find(buf: Uint8Array, start: number, end: number, header: Uint8Array | null): Ready | null {
    if (!this.#isOn) return null
    if (this.#setting !== null) return this.#findSetting()
    const last = this.#last
    if (header === null && last !== null && last.recipe.header === '' && startsWith(buf, start, end, last.framing)) return last
    const found = header === null ? this.#findId(buf, start, end) : this.#findHeader(buf, start, end, header)
    if (found !== null) this.#last = found
    return found
  }

  /** The recipe of the schema that the topic's setting gives. */
  #findSetting(): Ready | null {
    if (this.#last !== null) return this.#last
    const { recipes, schemas } = this.#typing
    const at = recipes.findIndex(
      (one) =>
        one.side === this.#side &&
        one.codec === 'json' &&
        one.framing === '' &&
        one.header === '' &&
        schemas[one.schema].text === this.#setting,
    )
    if (at >= 0) return (this.#last = this.#make(at))
    const base = { side: this.#side, id: SETTING_ID, header: '', sample: '' }
    if (!this.#givenUp.has(unknownKey(base))) this.unknown.set(unknownKey(base), base)
    return null
  }

  #compile(recipe: Recipe): Decoder {
    return compileDecoder(this.#typing, recipe, { input: this.#input, tree: this.#tree, sink: (id) => this.#stage(id) })
  }

  #stage(id: number): StagedLeaf {
    const known = this.#stages.get(id)
    if (known !== undefined) return known
    const stage = new StagedLeaf(this.#input)
    this.#stages.set(id, stage)
    this.#staged.push(stage)
    return stage
  }

  #findId(buf: Uint8Array, start: number, end: number): Ready | null {
    const id = schemaIdOf(buf, start, end)
    if (id < 0) return null
    for (const i of this.#byId.get(id) ?? []) {
      const ready = this.#make(i)
      if (startsWith(buf, start, end, ready.framing)) return ready
    }
    this.#note(id, '', buf, start, end)
    return null
  }

  #findHeader(buf: Uint8Array, start: number, end: number, header: Uint8Array): Ready | null {
    const hex = Buffer.from(header).toString('hex')
    const known = this.#byHeader.get(hex)
    if (known !== undefined) return this.#make(known)
    this.#note(-1, hex, buf, start, end)
    return null
  }

  #note(id: number, header: string, buf: Uint8Array, start: number, end: number): void {
    const base = { side: this.#side, id, header }
    if (this.#givenUp.has(unknownKey(base))) {
      this.counts.undecodable++
      return
    }
    const sample = Buffer.from(buf.subarray(start, Math.min(end, start + SAMPLE_BYTES))).toString('hex')
    // Values of one Protobuf file may be of many messages: the indexes tell them apart.
    const key = `${unknownKey(base)} ${header === '' ? sample.slice(0, 32) : ''}`
    if (this.unknown.size < 256) this.unknown.set(key, { ...base, sample })
  }

  #make(i: number): Ready {
    const made = this.#ready[i]
    if (made !== null) return made
    const recipe = this.#typing.recipes[i]
    const filled = leavesOfPlan(recipe.plan, this.#tree)
    const ids = [...filled]
    const event = this.#event === null ? 0 : this.#typing.eventColumn
    const ready: Ready = {
      form: FIRST_RECIPE + i,
      recipe,
      framing: recipe.framing === '' ? NOTHING : Buffer.from(recipe.framing, 'hex'),
      decoder: this.#compile(recipe),
      handOver: handOverOf(
        ids.map((id) => this.#stage(id)),
        ids.map(this.#sink),
      ),
      others: this.#leaves.filter((leaf) => leaf !== event && !filled.has(leaf)).map(this.#sink),
    }
    this.#ready[i] = ready
    return ready
  }
}

function startsWith(buf: Uint8Array, start: number, end: number, prefix: Uint8Array): boolean {
  if (end - start < prefix.length) return false
  for (let i = 0; i < prefix.length; i++) if (buf[start + i] !== prefix[i]) return false
  return true
}
