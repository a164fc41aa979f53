import { FrazilError } from '../../base/errors.ts'
import type { Plan } from '../columns/plan.ts'
import type { JsonShape } from '../json/shape.ts'
import type { IcebergField } from '../columns/types.ts'
import type { SchemaType } from '../source.ts'

export type Side = 'key' | 'value'

/** A writer schema as it was when its first record came: kept with the table, so that no registry is asked again (T2). */
export interface KeptSchema {
  readonly type: SchemaType
  readonly text: string
  /** Names and texts that it refers to, those referred to by others first. */
  readonly references: readonly { readonly name: string; readonly text: string }[]
}

/**
 * How a value comes back from its columns: form FIRST_RECIPE + its index. `framing` are the bytes before the payload, as
 * hex: magic byte, schema id, Protobuf message indexes; none where `header` (the record header's value, hex) names the
 * schema, or a topic's setting does.
 */
export interface Recipe {
  readonly side: Side
  readonly codec: 'avro' | 'protobuf' | 'json'
  readonly codecVersion: 1
  readonly framing: string
  readonly header: string
  /** Index into `schemas`. */
  readonly schema: number
  /** Protobuf: which message of the file, as indexes from the outermost. */
  readonly message: readonly number[]
  readonly plan: Plan
  /** The name of the record type, which `event_type` shows. */
  readonly typeName: string
  /** JSON: how the text is laid out (json/shape.ts). */
  readonly shape?: JsonShape
}

/** The form of the first recipe (DESIGN.md, the row). */
export const FIRST_RECIPE = 3

/** More recipes than this a table does not take: further schemas stay raw. */
export const RECIPES_MAX = 2000

/**
 * The typed side of a table: its columns and how values come back from them. It only grows; each version is an object of
 * its own in the table's folder, `SetTableTyping` says which one counts.
 */
export interface Typing {
  readonly format: 1
  readonly fields: readonly IcebergField[]
  /** What a column is called in schemas, by field id. */
  readonly sources: Readonly<Record<string, string>>
  readonly nextId: number
  /** Top-level columns that keys go to; all others are the values'. */
  readonly keyColumns: readonly number[]
  /** The record type whose fields stand at top level; null while there is none. */
  readonly topType: string | null
  /** Columns of further record types, by type name (T6). */
  readonly events: Readonly<Record<string, number>>
  /** The column `event_type`; 0 for none. */
  readonly eventColumn: number
  readonly schemas: readonly KeptSchema[]
  readonly recipes: readonly Recipe[]
}

export const EMPTY_TYPING: Typing = {
  format: 1,
  fields: [],
  sources: {},
  nextId: 100,
  keyColumns: [],
  topType: null,
  events: {},
  eventColumn: 0,
  schemas: [],
  recipes: [],
}

export function printTyping(typing: Typing): string {
  return JSON.stringify(typing)
}

/** Errors: CORRUPT. */
export function parseTyping(text: string): Typing {
  try {
    const typing = JSON.parse(text) as Typing
    if (typing.format === 1 && Array.isArray(typing.fields) && Array.isArray(typing.recipes)) return typing
  } catch (error) {
    throw new FrazilError('CORRUPT', 'the typing of a table is no JSON', error)
  }
  throw new FrazilError('CORRUPT', 'the typing of a table is of a format that this program does not know')
}
