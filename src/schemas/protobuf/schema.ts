import protobuf from 'protobufjs'
import { FrazilError } from '../../base/errors.ts'

/** A message type with what its wire form needs; a recursive type refers to itself, so this may be a graph. */
export interface ProtoMessage {
  /** Full name without the leading dot. */
  readonly name: string
  /** Ascending by number. */
  readonly fields: readonly ProtoField[]
}

export interface ProtoField {
  readonly name: string
  readonly number: number
  /** A scalar type of proto, `enum` or `message`. */
  readonly type: string
  readonly label: 'one' | 'repeated' | 'map'
  /** It is written even when it has its default. */
  readonly hasPresence: boolean
  /** Repeated numbers are one run of bytes. */
  readonly isPacked: boolean
  readonly message: ProtoMessage | null
  /** Names of an enum by number; the first one where several share it. */
  readonly symbols: ReadonlyMap<number, string>
  /** Of a map. */
  readonly keyType: string
}

const COMMON = ['any', 'duration', 'timestamp', 'empty', 'struct', 'wrappers', 'field_mask'].map((name) => `google/protobuf/${name}.proto`)

/**
 * Parses a .proto file and gives the message that these indexes name, from the outermost. `references` are the files it
 * imports, with their import paths. Errors: SCHEMA_INVALID.
 */
export function parseProtobuf(
  text: string,
  references: readonly { readonly name: string; readonly text: string }[],
  indexes: readonly number[],
): ProtoMessage {
  try {
    const root = new protobuf.Root()
    const given = new Set(references.map((one) => one.name))
    for (const name of COMMON) {
      const known = given.has(name) ? null : protobuf.common.get(name)
      if (known?.nested !== undefined && known !== null) root.addJSON(known.nested as Record<string, protobuf.AnyNestedObject>)
    }
    for (const one of references) protobuf.parse(one.text, root, { keepCase: true })
    protobuf.parse(text, root, { keepCase: true })
    root.resolveAll()
    return messageOf(root.lookupType(nameOf(text, indexes)), new Map())
  } catch (error) {
    throw new FrazilError('SCHEMA_INVALID', `the Protobuf schema cannot be read: ${(error as Error).message}`, error)
  }
}

/** The full name of the message that the indexes name: they count the messages of this file alone, in its order. */
function nameOf(text: string, indexes: readonly number[]): string {
  const alone = protobuf.parse(text, new protobuf.Root(), { keepCase: true })
  let space: protobuf.NamespaceBase = alone.root
  if (alone.package !== undefined && alone.package !== null) space = alone.root.lookup(alone.package) as protobuf.Namespace
  for (const index of indexes) {
    const types: protobuf.Type[] = space.nestedArray.filter((one): one is protobuf.Type => one instanceof protobuf.Type)
    const type = types[index]
    if (type === undefined) throw new Error(`it has no message with the index ${indexes.join('.')}`)
    space = type
  }
  return space.fullName
}

function messageOf(type: protobuf.Type, known: Map<protobuf.Type, ProtoMessage>): ProtoMessage {
  const made = known.get(type)
  if (made !== undefined) return made
  const fields: ProtoField[] = []
  const message: ProtoMessage = { name: type.fullName.slice(1), fields }
  known.set(type, message)
  for (const field of type.fieldsArray) {
    const { resolvedType } = field
    const isMessage = resolvedType instanceof protobuf.Type
    const symbols = new Map<number, string>()
    if (resolvedType instanceof protobuf.Enum)
      for (const [name, number] of Object.entries(resolvedType.values)) if (!symbols.has(number)) symbols.set(number, name)
    if ((field as unknown as { delimited?: boolean }).delimited === true) throw new Error(`field ${field.name} is a group`)
    fields.push({
      name: field.name,
      number: field.id,
      type: isMessage ? 'message' : resolvedType === null ? field.type : 'enum',
      label: field.map ? 'map' : field.repeated ? 'repeated' : 'one',
      hasPresence: isMessage || Boolean((field as unknown as { hasPresence?: unknown }).hasPresence),
      isPacked: field.packed,
      message: isMessage ? messageOf(resolvedType, known) : null,
      symbols,
      keyType: field instanceof protobuf.MapField ? field.keyType : '',
    })
  }
  fields.sort((a, b) => a.number - b.number)
  return message
}
