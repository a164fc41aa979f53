import { FrazilError, hasCode } from '../../base/errors.ts'
import { avro } from '../languages/avro/avro.ts'
import { json } from '../languages/json/jsonSchema.ts'
import type { Language, ParsedSchema } from '../languages/language.ts'
import { protobufLanguage } from '../languages/protobuf/protobufSchema.ts'
import type { ResolvedReference, SchemaType } from '../source.ts'
import type { Compatibility } from './settings.ts'

/** A schema's text with everything that it refers to. */
export interface SchemaText {
  readonly type: SchemaType
  readonly schema: string
  readonly references: readonly ResolvedReference[]
}

const LANGUAGES: Readonly<Record<SchemaType, Language>> = { AVRO: avro, JSON: json, PROTOBUF: protobufLanguage }

export type CheckTask =
  | { readonly kind: 'canonical'; readonly text: SchemaText; readonly normalize: boolean }
  | { readonly kind: 'serialized'; readonly text: SchemaText }
  | {
      readonly kind: 'incompatibilities'
      readonly level: Compatibility
      readonly next: SchemaText
      /** In the order in which they are looked at. */
      readonly compared: readonly SchemaText[]
    }

/** Text, or sentences. Error: SCHEMA_INVALID, whatever a library throws. */
export function runCheck(task: CheckTask): string | string[] {
  try {
    if (task.kind === 'incompatibilities') return incompatibilities(task.level, task.next, task.compared)
    const parsed = parseSchema(task.text)
    if (task.kind === 'serialized') return parsed.serialized?.() ?? parsed.canonical
    return task.normalize ? parsed.normalized() : parsed.canonical
  } catch (error) {
    if (hasCode(error, 'SCHEMA_INVALID')) throw error
    const why = error instanceof RangeError ? 'it is nested too deep' : (error as Error).message
    throw new FrazilError('SCHEMA_INVALID', `the schema cannot be read: ${why}`, error)
  }
}

const parseSchema = ({ type, schema, references }: SchemaText): ParsedSchema => LANGUAGES[type].parse(schema, references)

/** Of the first version that speaks against it. */
function incompatibilities(level: Compatibility, next: SchemaText, compared: readonly SchemaText[]): string[] {
  const parsed = parseSchema(next)
  for (const text of compared) {
    const problems =
      text.type === next.type ? compare(level, parsed, parseSchema(text)) : [`the schema type was ${text.type}, and is ${next.type}`]
    if (problems.length > 0) return problems
  }
  return []
}

function compare(level: Compatibility, next: ParsedSchema, previous: ParsedSchema): string[] {
  const problems: string[] = []
  if (!level.startsWith('FORWARD'))
    problems.push(...next.unreadable(previous).map((problem) => `the new schema cannot read data of the old one: ${problem}`))
  if (!level.startsWith('BACKWARD'))
    problems.push(...previous.unreadable(next).map((problem) => `the old schema cannot read data of the new one: ${problem}`))
  return problems
}
