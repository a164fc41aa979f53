import protobuf, { type Enum, type Field, type MapField, type OneOf, type Type } from 'protobufjs'
import type { ProtoFile } from './file.ts'

/** Scalars that read each other's bytes (protobuf.dev, "Updating A Message Type"); enums are numbers. */
const GROUPS: Readonly<Record<string, string>> = {
  int32: 'varint',
  int64: 'varint',
  uint32: 'varint',
  uint64: 'varint',
  bool: 'varint',
  sint32: 'zigzag',
  sint64: 'zigzag',
  string: 'bytes',
  bytes: 'bytes',
  fixed32: 'fixed32',
  sfixed32: 'fixed32',
  fixed64: 'fixed64',
  sfixed64: 'fixed64',
  float: 'float',
  double: 'double',
}

/**
 * What keeps `reader` from reading what `writer` wrote, a sentence each. Fields are known by their numbers. Messages may
 * come and move, not go; fields may come and go unless they are required; a oneof may not lose fields, nor take in more
 * than one that was outside of it.
 */
export function protobufUnreadable(reader: ProtoFile, writer: ProtoFile): string[] {
  const check = new Check()
  if (reader.package !== writer.package)
    check.fail('PACKAGE_CHANGED', '', `the package was "${writer.package}", and is "${reader.package}"`)
  check.types(writer.messages, reader.messages, '')
  return check.problems
}

class Check {
  readonly problems: string[] = []
  readonly #done = new Map<Type, Set<Type>>()

  fail(kind: string, path: string, sentence: string): void {
    this.problems.push(`${kind} at ${path === '' ? '/' : path}: ${sentence}`)
  }

  types(before: readonly Type[], after: readonly Type[], path: string): void {
    for (const old of before) {
      const now = after.find(({ name }) => name === old.name)
      if (now === undefined) this.fail('MESSAGE_REMOVED', `${path}/${old.name}`, `the message ${old.name} is gone`)
      else this.message(old, now, `${path}/${old.name}`)
    }
  }

  message(before: Type, after: Type, path: string): void {
    const done = this.#done.get(before)
    if (done?.has(after)) return
    if (done === undefined) this.#done.set(before, new Set([after]))
    else done.add(after)
    this.#oneofs(before, after, path)
    const olds = before.fieldsArray
    for (const old of olds) {
      const now = fieldById(after, old.id)
      if (now !== undefined) this.#field(old, now, `${path}/${old.id}`)
      else if (old.required) this.fail('REQUIRED_FIELD_REMOVED', `${path}/${old.id}`, `the required field ${old.name} is gone`)
    }
    for (const now of after.fieldsArray) {
      if (now.required && fieldById(before, now.id) === undefined)
        this.fail('REQUIRED_FIELD_ADDED', `${path}/${now.id}`, `the field ${now.name} is required, and older data does not have it`)
    }
    this.types(nested(before), nested(after), path)
  }

  #oneofs(before: Type, after: Type, path: string): void {
    for (const oneof of real(after)) {
      const at = `${path}/${oneof.name}`
      const old = oneof.fieldsArray.map(({ id }) => fieldById(before, id)).filter((field) => field !== undefined)
      const outside = old.filter((field) => inOneof(field) === null)
      const oneofs = new Set(old.map(inOneof).filter((from) => from !== null))
      if (outside.length > 1)
        this.fail('MULTIPLE_FIELDS_MOVED_TO_ONEOF', at, `${outside.map(({ name }) => name).join(', ')} may be set together in older data`)
      else if (outside.length + oneofs.size > 1)
        this.fail('FIELD_MOVED_TO_EXISTING_ONEOF', at, 'what it holds may be set together in older data')
    }
    for (const oneof of real(before)) {
      // under its name, or under another one that what is left of it moved to
      const lives =
        real(after).some(({ name }) => name === oneof.name) ||
        oneof.fieldsArray.some(({ id }) => {
          const now = fieldById(after, id)
          return now !== undefined && inOneof(now) !== null
        })
      if (!lives) continue
      for (const { id, name } of oneof.fieldsArray) {
        if (fieldById(after, id) === undefined)
          this.fail('ONEOF_FIELD_REMOVED', `${path}/${oneof.name}/${id}`, `the field ${name} is gone from the oneof`)
      }
    }
  }

  #field(before: Field, after: Field, path: string): void {
    if (before.map !== after.map) return this.#kindChanged(before, after, path)
    if (before.map) this.#scalars(keyType(before), keyType(after), path)
    this.#types(before, after, path)
    const bytes = GROUPS[before.type] === 'bytes' || !(before.type in GROUPS)
    if (before.repeated !== after.repeated && !bytes)
      this.fail('FIELD_NUMERIC_LABEL_CHANGED', path, `${after.name} is ${after.repeated ? 'repeated' : 'no longer repeated'}`)
  }

  #types(before: Field, after: Field, path: string): void {
    const old = before.resolvedType
    const now = after.resolvedType
    if (old instanceof protobuf.Type !== now instanceof protobuf.Type) return this.#kindChanged(before, after, path)
    if (old instanceof protobuf.Type && now instanceof protobuf.Type) {
      if (localName(old) !== localName(now))
        this.fail('FIELD_NAMED_TYPE_CHANGED', path, `the type was ${localName(old)}, and is ${localName(now)}`)
      else this.message(old, now, path)
    } else this.#scalars(scalarOf(before, old), scalarOf(after, now), path)
  }

  #scalars(before: string, after: string, path: string): void {
    if (GROUPS[before] !== GROUPS[after]) this.fail('FIELD_SCALAR_KIND_CHANGED', path, `${after} does not read what ${before} wrote`)
  }

  #kindChanged(before: Field, after: Field, path: string): void {
    this.fail('FIELD_KIND_CHANGED', path, `the type was ${kindOf(before)}, and is ${kindOf(after)}`)
  }
}

const fieldById = (type: Type, id: number): Field | undefined => type.fieldsById[id]
const nested = (type: Type): Type[] =>
  type.nestedArray.filter((object): object is Type => object instanceof protobuf.Type && !(object as { group?: boolean }).group)
/** Without those that an optional field of proto3 stands in. */
const real = (type: Type): OneOf[] => type.oneofsArray.filter((oneof) => !oneof.isProto3Optional)
const inOneof = (field: Field): OneOf | null => (field.partOf !== null && !field.partOf.isProto3Optional ? field.partOf : null)
const scalarOf = (field: Field, resolved: Type | Enum | null): string => (resolved instanceof protobuf.Enum ? 'int32' : field.type)
const keyType = (field: Field): string => (field as unknown as MapField).keyType
const kindOf = (field: Field): string => (field.map ? `map of ${field.type}` : field.type)

/** Without its package, which may change with the file that it is in. */
function localName(type: Type): string {
  const names: string[] = []
  for (let at: protobuf.ReflectionObject | null = type; at instanceof protobuf.Type; at = at.parent) names.unshift(at.name)
  return names.join('.')
}
