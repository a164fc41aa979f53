import avsc from 'avsc'
import { FrazilError } from '../../../base/errors.ts'
import type { ResolvedReference } from '../../source.ts'
import type { Language, ParsedSchema } from '../language.ts'
import { isObject, isRawNumber, type Json, parseJson } from '../losslessJson.ts'
import { writeAvro } from './canonical.ts'
import { avroUnreadable } from './compatibility.ts'
import { type AvroNode, type Named, readAvro } from './node.ts'

/** Avro: names, defaults and unions are checked by avsc as well, so that what is registered can be used. */
export const avro: Language = {
  type: 'AVRO',
  parse(text, references) {
    const names = new Map<string, Named>()
    const registry = {}
    for (const reference of references) read(reference, names, registry)
    const known = new Set(names.values())
    return new AvroSchema(check(parseJson(text), names, registry), known)
  },
}

class AvroSchema implements ParsedSchema {
  readonly type = 'AVRO'
  readonly canonical: string
  readonly node: AvroNode
  readonly #known: ReadonlySet<Named>

  constructor(node: AvroNode, known: ReadonlySet<Named>) {
    this.node = node
    this.#known = known
    this.canonical = writeAvro(node, known, false)
  }

  normalized(): string {
    return writeAvro(this.node, this.#known, true)
  }

  unreadable(writer: ParsedSchema): string[] {
    return avroUnreadable(this.node, (writer as AvroSchema).node)
  }
}

function read({ schema, name }: ResolvedReference, names: Map<string, Named>, registry: object): void {
  try {
    check(parseJson(schema), names, registry)
  } catch (error) {
    throw new FrazilError('SCHEMA_INVALID', `the reference "${name}" cannot be read: ${(error as Error).message}`, error)
  }
}

function check(json: Json, names: Map<string, Named>, registry: object): AvroNode {
  const before = new Set(names.values())
  const node = readAvro(json, names)
  try {
    avsc.Type.forSchema(forLibrary(parseJson(writeAvro(node, before, false))) as avsc.Schema, {
      registry: registry as Record<string, avsc.Type>,
      wrapUnions: true,
      noAnonymousTypes: true,
    })
  } catch (error) {
    throw new FrazilError('SCHEMA_INVALID', `the Avro schema is not valid: ${(error as Error).message}`, error)
  }
  return node
}

/** The largest number that avsc takes for a long. */
const LONG_MAX = 9007199254740990

/** avsc takes no default of a long beyond 2^53: whether it is one is all that it is asked. */
function forLibrary(value: Json): unknown {
  if (isRawNumber(value)) return Math.max(-LONG_MAX, Math.min(LONG_MAX, Number(value.rawJSON)))
  if (Array.isArray(value)) return value.map(forLibrary)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, forLibrary(item)]))
}
