import { hasCode } from '../../base/errors.ts'
import { guidOf, headerIndexes, PREFIX_BYTES, readIndexes } from '../../schemas/typing/framing.ts'
import type { Newcomer } from '../../schemas/typing/grow.ts'
import type { ResolvedSchema, SchemaSource } from '../../schemas/source.ts'
import { unknownKey, type UnknownSchema } from './side.ts'

export interface Resolved {
  readonly newcomers: readonly Newcomer[]
  /** Keys of what there is no schema of, or none that can be read: such values stay raw (hazard G11). */
  readonly givenUp: readonly string[]
}

/**
 * Asks for the schemas that values named. A registry that is away is an error, which the conversion waits for; a schema
 * that does not exist, or that refers to what does not, is given up at once. Errors: SCHEMA_REGISTRY_UNAVAILABLE.
 */
export async function resolveUnknown(unknown: readonly UnknownSchema[], source: SchemaSource | null): Promise<Resolved> {
  const newcomers = new Map<string, Newcomer>()
  const givenUp: string[] = []
  for (const one of unknown) {
    const schema = source === null ? null : await ask(one, source)
    const newcomer = schema === null ? null : newcomerOf(one, schema)
    if (newcomer === null) givenUp.push(unknownKey(one))
    else newcomers.set(`${newcomer.side} ${newcomer.framing} ${newcomer.header}`, newcomer)
  }
  return { newcomers: [...newcomers.values()], givenUp }
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
