import { FrazilError } from '../../base/errors.ts'
import { mapAvro, type Mapped } from '../avro/map.ts'
import { parseAvro } from '../avro/schema.ts'
import { mapJson, parseJsonSchema } from '../json/schema.ts'
import { mapMessage } from '../protobuf/map.ts'
import { parseProtobuf } from '../protobuf/schema.ts'
import { ColumnBook, type WantedField } from '../columns/book.ts'
import type { JsonShape } from '../json/shape.ts'
import type { ResolvedSchema } from '../source.ts'
import { RECIPES_MAX, type KeptSchema, type Recipe, type Side, type Typing } from './typing.ts'

/** A schema that values were met with and no recipe knows. */
export interface Newcomer {
  readonly side: Side
  /** Hex, as in Recipe. */
  readonly framing: string
  readonly header: string
  readonly schema: Pick<ResolvedSchema, 'type' | 'schema' | 'references'>
  /** Protobuf only. */
  readonly message: readonly number[]
  readonly shape?: JsonShape
}

/** A schema with its references above this is not kept with the table, and its values stay raw. */
export const SCHEMA_MAX_BYTES = 1024 * 1024

interface MappedType {
  readonly codec: Recipe['codec']
  readonly mapped: Mapped
  /** Of the record type; '' for what has no name. */
  readonly typeName: string
}

/** Errors: SCHEMA_INVALID, LIMIT. */
function mapType({ schema, message }: Newcomer): MappedType {
  const sizeBytes = Buffer.byteLength(schema.schema) + schema.references.reduce((sum, one) => sum + Buffer.byteLength(one.schema), 0)
  if (sizeBytes > SCHEMA_MAX_BYTES)
    throw new FrazilError('LIMIT', `the schema has ${sizeBytes} bytes, columns are made of up to ${SCHEMA_MAX_BYTES}`)
  const references = schema.references.map((one) => ({ name: one.name, text: one.schema }))
  if (schema.type === 'PROTOBUF') {
    const proto = parseProtobuf(schema.schema, references, message)
    return { codec: 'protobuf', mapped: mapMessage(proto), typeName: proto.name }
  }
  if (schema.type === 'JSON') {
    const json = parseJsonSchema(schema.schema, references)
    return { codec: 'json', mapped: mapJson(json), typeName: json.title }
  }
  const texts = references.map((one) => one.text)
  const node = parseAvro(schema.schema, texts)
  return { codec: 'avro', mapped: mapAvro(node), typeName: node.name }
}

/**
 * A typing with recipes, and columns, for these newcomers too. Those that cannot be mapped come back with the reason; their
 * values stay raw. The same typing and newcomers give the same outcome, always.
 */
export function growTyping(
  typing: Typing,
  newcomers: readonly Newcomer[],
): { readonly typing: Typing; readonly refused: readonly { readonly newcomer: Newcomer; readonly reason: FrazilError }[] } {
  const refused: { newcomer: Newcomer; reason: FrazilError }[] = []
  const types: { newcomer: Newcomer; type: MappedType }[] = []
  for (const newcomer of newcomers) {
    try {
      if (typing.recipes.length + types.length >= RECIPES_MAX)
        throw new FrazilError('LIMIT', `the table has ${RECIPES_MAX} recipes already`)
      types.push({ newcomer, type: mapType(newcomer) })
    } catch (error) {
      if (!(error instanceof FrazilError)) throw error
      refused.push({ newcomer, reason: error })
    }
  }
  const growth = new Growth(typing, types)
  for (const { newcomer, type } of types) growth.add(newcomer, type)
  return { typing: growth.done(), refused }
}

const RECORDS: ReadonlySet<string> = new Set(['record', 'message', 'object'])

function isRecord({ mapped }: MappedType): boolean {
  return mapped.wanted?.type === 'struct' && RECORDS.has(mapped.plan.as)
}

class Growth {
  readonly #typing: Typing
  readonly #book: ColumnBook
  readonly #schemas: KeptSchema[]
  readonly #recipes: Recipe[]
  readonly #keyColumns: Set<number>
  readonly #events: Record<string, number>
  #topType: string | null
  #eventColumn: number

  constructor(typing: Typing, types: readonly { readonly newcomer: Newcomer; readonly type: MappedType }[]) {
    this.#typing = typing
    this.#book = new ColumnBook(typing.fields, typing.sources, typing.nextId)
    this.#schemas = [...typing.schemas]
    this.#recipes = [...typing.recipes]
    this.#keyColumns = new Set(typing.keyColumns)
    this.#events = { ...typing.events }
    this.#topType = typing.topType
    this.#eventColumn = typing.eventColumn
    if (this.#topType !== null || Object.keys(this.#events).length > 0) return
    // One type: its fields at top level. Several at once: none of them (T6).
    const names = new Set(
      types.filter(({ newcomer, type }) => newcomer.side === 'value' && isRecord(type)).map(({ type }) => type.typeName),
    )
    if (names.size === 1) this.#topType = [...names][0]
  }

  add(newcomer: Newcomer, type: MappedType): void {
    const { plan, wanted } = type.mapped
    if (wanted !== null) {
      if (newcomer.side === 'key') this.#placeKey(type)
      else if (!isRecord(type)) this.#book.place([{ name: 'value', source: '\u0000value', wanted }])
      else if (type.typeName === this.#topType) this.#book.place(wanted.fields!)
      else this.#placeEvent(type)
    }
    this.#recipes.push({
      side: newcomer.side,
      codec: type.codec,
      codecVersion: 1,
      framing: newcomer.framing,
      header: newcomer.header,
      schema: this.#keep(newcomer.schema),
      message: newcomer.message,
      plan,
      typeName: type.typeName,
      ...(newcomer.shape === undefined ? {} : { shape: newcomer.shape }),
    })
  }

  done(): Typing {
    const book = this.#book
    return {
      ...this.#typing,
      fields: book.fields,
      sources: book.sources,
      nextId: book.nextId,
      keyColumns: [...this.#keyColumns],
      topType: this.#topType,
      events: this.#events,
      eventColumn: this.#eventColumn,
      schemas: this.#schemas,
      recipes: this.#recipes,
    }
  }

  #placeKey(type: MappedType): void {
    const field = this.#asColumn(type, 'key', '\u0000key', (id) => this.#keyColumns.add(id))
    this.#book.place([field])
  }

  #placeEvent(type: MappedType): void {
    const { typeName } = type
    const name = typeName.slice(typeName.lastIndexOf('.') + 1)
    this.#book.place([this.#asColumn(type, name === '' ? 'value' : name, `\u0000event ${typeName}`, (id) => (this.#events[typeName] = id))])
    if (this.#eventColumn !== 0) return
    const wanted = { type: 'string', assign: (id: number) => void (this.#eventColumn = id) }
    this.#book.place([{ name: 'event_type', source: '\u0000event_type', wanted, doc: 'Name of the type that the value has' }])
  }

  /** A type as one column; a record without fields says no more than that it is there. */
  #asColumn({ mapped }: MappedType, name: string, source: string, seen: (id: number) => void): WantedField {
    const wanted = mapped.wanted!
    const isEmpty = wanted.type === 'struct' && wanted.fields!.length === 0
    if (isEmpty) mapped.plan.as = 'empty'
    const assign = (id: number): void => {
      seen(id)
      wanted.assign(id)
    }
    return { name, source, wanted: isEmpty ? { type: 'boolean', assign } : { ...wanted, assign } }
  }

  #keep(schema: Newcomer['schema']): number {
    const kept: KeptSchema = {
      type: schema.type,
      text: schema.schema,
      references: schema.references.map((one) => ({ name: one.name, text: one.schema })),
    }
    const text = JSON.stringify(kept)
    const known = this.#schemas.findIndex((one) => JSON.stringify(one) === text)
    return known >= 0 ? known : this.#schemas.push(kept) - 1
  }
}
