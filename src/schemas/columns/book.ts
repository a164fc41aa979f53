import { columnName } from './names.ts'
import { primitiveOf, type IcebergField, type IcebergType } from './types.ts'

/** A column, or a part of one, that a schema wants. `assign` is told the field id that it gets. */
export interface Wanted {
  readonly type: string | 'struct' | 'list' | 'map'
  readonly fields?: readonly WantedField[]
  readonly element?: Wanted
  readonly key?: Wanted
  readonly value?: Wanted
  assign(id: number): void
}

export interface WantedField {
  /** The name in the schema. */
  readonly name: string
  readonly wanted: Wanted
  readonly doc?: string
  /** What the column is found again by, when that is not the name: columns that no schema has. */
  readonly source?: string
}

/**
 * Columns of a table as they grow. A wanted field finds its column by its source name and a type that can hold it;
 * otherwise it gets a new column and new ids. Nothing is ever removed or given to something else (T13).
 */
export class ColumnBook {
  #fields: readonly IcebergField[]
  /** Source name by field id: what the column is called in schemas. */
  readonly #sources: Map<number, string>
  #nextId: number

  constructor(fields: readonly IcebergField[], sources: Readonly<Record<number, string>>, nextId: number) {
    this.#fields = fields
    this.#sources = new Map(Object.entries(sources).map(([id, name]) => [Number(id), name]))
    this.#nextId = nextId
  }

  get fields(): readonly IcebergField[] {
    return this.#fields
  }

  get sources(): Record<number, string> {
    return Object.fromEntries(this.#sources)
  }

  get nextId(): number {
    return this.#nextId
  }

  /** Places these as top-level columns. */
  place(wanted: readonly WantedField[]): void {
    this.#fields = this.#placeAll(this.#fields, wanted)
  }

  #placeAll(fields: readonly IcebergField[], wanted: readonly WantedField[]): IcebergField[] {
    const out = [...fields]
    const used = new Set<number>()
    for (const { name, wanted: want, doc, source = name } of wanted) {
      const at = out.findIndex((field) => !used.has(field.id) && this.#sources.get(field.id) === source && fits(field.type, want))
      if (at >= 0) {
        const field = out[at]
        used.add(field.id)
        want.assign(field.id)
        out[at] = { ...field, type: this.#place(field.type, want) }
      } else {
        const id = this.#nextId++
        const taken = new Set(out.map((field) => field.name.toLowerCase()))
        const field = { id, name: columnName(name, (lower) => taken.has(lower)), required: false, ...(doc === undefined ? {} : { doc }) }
        this.#sources.set(id, source)
        used.add(id)
        want.assign(id)
        out.push({ ...field, type: this.#fresh(want) })
      }
    }
    return out
  }

  /** Puts a wanted part into a type that can hold it. */
  #place(type: IcebergType, want: Wanted): IcebergType {
    if (typeof type === 'string') return type
    if (type.type === 'struct') return { ...type, fields: this.#placeAll(type.fields, want.fields!) }
    if (type.type === 'list') {
      want.element!.assign(type['element-id'])
      return { ...type, element: this.#place(type.element, want.element!) }
    }
    want.key!.assign(type['key-id'])
    want.value!.assign(type['value-id'])
    return { ...type, key: this.#place(type.key, want.key!), value: this.#place(type.value, want.value!) }
  }

  #fresh(want: Wanted): IcebergType {
    if (want.type === 'struct') return { type: 'struct', fields: this.#placeAll([], want.fields!) }
    if (want.type === 'list') {
      const id = this.#nextId++
      want.element!.assign(id)
      return { type: 'list', 'element-id': id, element: this.#fresh(want.element!), 'element-required': false }
    }
    if (want.type === 'map') {
      const keyId = this.#nextId++
      const valueId = this.#nextId++
      want.key!.assign(keyId)
      want.value!.assign(valueId)
      return {
        type: 'map',
        'key-id': keyId,
        key: this.#fresh(want.key!),
        'value-id': valueId,
        value: this.#fresh(want.value!),
        'value-required': false,
      }
    }
    return want.type
  }
}

/** True when a column of this type can hold what is wanted as it is. */
function fits(type: IcebergType, want: Wanted): boolean {
  if (typeof type === 'string') return type === want.type || isWider(type, want.type)
  if (type.type !== want.type) return false
  if (type.type === 'struct') return true
  if (type.type === 'list') return fits(type.element, want.element!)
  return fits(type.key, want.key!) && fits(type.value, want.value!)
}

/** A long column takes what a schema has as int; the other way round is a new column. */
function isWider(type: string, wanted: string): boolean {
  if (wanted === 'struct' || wanted === 'list' || wanted === 'map') return false
  return primitiveOf(type).kind === 'long' && primitiveOf(wanted).kind === 'int'
}
