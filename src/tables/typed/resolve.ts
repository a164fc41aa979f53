import { hasCode } from '../../base/errors.ts'
import { guidOf, headerIndexes, PREFIX_BYTES, readIndexes } from '../../schemas/typing/framing.ts'
import type { Newcomer } from '../../schemas/typing/grow.ts'
import type { ResolvedSchema, SchemaSource } from '../../schemas/source.ts'
import type { Typing } from '../../schemas/typing/typing.ts'
import { SETTING_ID, unknownKey, type UnknownSchema } from './side.ts'

export interface Resolved {
  readonly newcomers: readonly Newcomer[]
  /** Keys of what there is no schema of, or none that can be read: such values stay raw (hazard G11). */
  readonly givenUp: readonly string[]
}

/**
 * Asks for the schemas that values named. A registry that is away is an error, which the conversion waits for; a schema
 * that does not exist, or that refers to what does not, is given up at once. Errors: SCHEMA_REGISTRY_UNAVAILABLE.
 */
export async function resolveUnknown(
  unknown: readonly UnknownSchema[],
  source: SchemaSource | null,
  typing: Typing,
  setting: string | null,
): Promise<Resolved> {
  const newcomers = new Map<string, Newcomer>()
  const givenUp: string[] = []
  for (const one of unknown) {
    const newcomer = shapeOf(one, typing) ?? settingOf(one, setting) ?? (await asked(one, source))
    if (newcomer === null) givenUp.push(unknownKey(one))
    else newcomers.set(`${newcomer.side} ${newcomer.framing} ${newcomer.header} ${JSON.stringify(newcomer.shape)}`, newcomer)
  }
  return { newcomers: [...newcomers.values()], givenUp }
}

async function asked(one: UnknownSchema, source: SchemaSource | null): Promise<Newcomer | null> {
  const schema = source === null || one.shape !== undefined || one.id === SETTING_ID ? null : await ask(one, source)
  return schema === null ? null : newcomerOf(one, schema)
}

/** A recipe more of a schema that is known, for another shape of its texts. */
function shapeOf({ shape, recipe, side }: UnknownSchema, typing: Typing): Newcomer | null {
  const like = shape === undefined || recipe === undefined ? undefined : typing.recipes[recipe]
  if (like === undefined || shape === undefined) return null
  const { type, text, references } = typing.schemas[like.schema]
  const resolved = references.map((one) => ({ name: one.name, subject: '', version: 0, schema: one.text }))
  return { side, framing: like.framing, header: like.header, schema: { type, schema: text, references: resolved }, message: [], shape }
}

function settingOf({ id, side }: UnknownSchema, setting: string | null): Newcomer | null {
  if (id !== SETTING_ID || setting === null) return null
  return { side, framing: '', header: '', schema: { type: 'JSON', schema: setting, references: [] }, message: [] }
}

async function ask({ id, header }: UnknownSchema, source: SchemaSource): Promise<ResolvedSchema | null> {
  try {
    if (header === '') return await source.byId(id)
    const guid = guidOf(Buffer.from(header, 'hex'))
    return guid === null ? null : await source.byGuid(guid)
  } catch (error) {
    if (hasCode(error, 'SCHEMA_INVALID')) return null
    throw error
  }
}

function newcomerOf({ side, header, sample }: UnknownSchema, schema: ResolvedSchema): Newcomer | null {
  const bytes = Buffer.from(sample, 'hex')
  const isProtobuf = schema.type === 'PROTOBUF'
  if (header !== '') {
    const read = isProtobuf ? headerIndexes(Buffer.from(header, 'hex')) : null
    return isProtobuf && read === null ? null : { side, framing: '', header, schema, message: read?.indexes ?? [] }
  }
  const read = isProtobuf ? readIndexes(bytes, PREFIX_BYTES, bytes.length) : null
  if (isProtobuf && read === null) return null
  return { side, framing: bytes.subarray(0, read?.end ?? PREFIX_BYTES).toString('hex'), header, schema, message: read?.indexes ?? [] }
}
