import protobuf, { type Enum, type Field, type MapField, type ReflectionObject, type Service, type Type } from 'protobufjs'
import {
  descriptorType,
  EDITIONS,
  ENUM,
  type EnumDescriptor,
  type FieldDescriptor,
  type FileDescriptor,
  GROUP,
  jsonNameOf,
  LABELS,
  MESSAGE,
  type MessageDescriptor,
  type Options,
  SCALARS,
  type ServiceDescriptor,
} from './descriptorTypes.ts'
import { type ProtoFile, unquote } from './file.ts'

/** A FileDescriptorProto in base64, or null when `text` is none: a .proto file has white space or a semicolon. */
export function decodeDescriptor(text: string): FileDescriptor | null {
  const trimmed = text.trim()
  if (trimmed.length < 4 || !/^[A-Za-z0-9+/]+={0,2}$/.test(trimmed)) return null
  try {
    return descriptorType('FileDescriptorProto').decode(Buffer.from(trimmed, 'base64')) as unknown as FileDescriptor
  } catch {
    return null
  }
}

/**
 * The file as FileDescriptorProto in base64, as protoc would make it without source info. Type names are full. Options that
 * descriptor.proto does not define are left out.
 */
export function encodeDescriptor(file: ProtoFile): string {
  const type = descriptorType('FileDescriptorProto')
  return Buffer.from(type.encode(type.fromObject(fileDescriptor(file))).finish()).toString('base64')
}

function fileDescriptor(file: ProtoFile): FileDescriptor {
  const indexes = (kind: string): number[] => file.imports.flatMap((item, i) => (item.kind === kind ? [i] : []))
  return {
    name: 'default',
    ...(file.package === '' ? {} : { package: file.package }),
    dependency: file.imports.map(({ name }) => name),
    publicDependency: indexes('public'),
    weakDependency: indexes('weak'),
    messageType: file.messages.map((message) => messageDescriptor(message, file.syntax)),
    enumType: file.enums.map(enumDescriptor),
    service: file.services.map(serviceDescriptor),
    options: fileOptions(file),
    ...(file.syntax === 'proto3' ? { syntax: 'proto3' } : {}),
    ...(file.syntax in EDITIONS ? { syntax: 'editions', edition: EDITIONS[file.syntax] } : {}),
  }
}

/** From the statements: protobufjs hands file options on to messages. */
function fileOptions(file: ProtoFile): Options | undefined {
  const options: Options = {}
  for (const { tokens, block } of file.statements) {
    if (tokens[0] !== 'option' || block !== null || tokens[2] !== '=' || tokens.length !== 4) continue
    const value = tokens[3]
    options[tokens[1]] = /^["']/.test(value) ? unquote(value) : value === 'true' ? true : value === 'false' ? false : value
  }
  return known(options, 'FileOptions')
}

function messageDescriptor(message: Type, syntax: string): MessageDescriptor {
  const nested = message.nestedArray
  const oneofs = message.oneofsArray.filter((oneof) => !oneof.isProto3Optional)
  // protoc puts those of optional fields last
  const all = [...oneofs, ...message.oneofsArray.filter((oneof) => oneof.isProto3Optional)]
  const entries: MessageDescriptor[] = []
  const field = message.fieldsArray.map((item) => {
    const made = fieldDescriptor(item, syntax)
    if (item.partOf !== null) made.oneofIndex = all.indexOf(item.partOf)
    if (item.map) entries.push(mapEntry(item as unknown as MapField, made))
    return made
  })
  const ranges = (message.reserved ?? []).filter((item) => typeof item !== 'string')
  return {
    name: message.name,
    field,
    nestedType: [
      ...nested.filter((item): item is Type => item instanceof protobuf.Type).map((item) => messageDescriptor(item, syntax)),
      ...entries,
    ],
    enumType: nested.filter((item): item is Enum => item instanceof protobuf.Enum).map(enumDescriptor),
    extension: nested.filter((item): item is Field => item instanceof protobuf.Field).map((item) => fieldDescriptor(item, syntax)),
    extensionRange: (message.extensions ?? []).map(([start, end]) => ({ start, end: end + 1 })),
    oneofDecl: all.map(({ name }) => ({ name })),
    options: known(message.options, 'MessageOptions'),
    reservedRange: ranges.map(([start, end]) => ({ start, end: end + 1 })),
    reservedName: (message.reserved ?? []).filter((item) => typeof item === 'string'),
  }
}

function fieldDescriptor(field: Field, syntax: string): FieldDescriptor {
  const { options = {} } = field
  const label = field.repeated || field.map ? LABELS.repeated : field.required && syntax === 'proto2' ? LABELS.required : LABELS.optional
  const made: FieldDescriptor = { name: field.name, number: field.id, label, ...typeOf(field) }
  made.jsonName = typeof options.json_name === 'string' ? options.json_name : jsonNameOf(field.name)
  if (options.default !== undefined) made.defaultValue = String(options.default)
  if (options.proto3_optional === true) made.proto3Optional = true
  if (field.extend !== undefined) made.extendee = field.extensionField?.parent?.fullName ?? field.extend
  const given = known(options, 'FieldOptions')
  if (given !== undefined) made.options = given
  return made
}

function typeOf(field: Field): { type: number; typeName?: string } {
  if (field.map) return { type: MESSAGE, typeName: `${field.parent!.fullName}.${entryName(field.name)}` }
  return valueType(field.type, field.resolvedType, field.delimited)
}

function valueType(name: string, resolved: ReflectionObject | null, delimited: boolean): { type: number; typeName?: string } {
  if (resolved === null) return { type: SCALARS[name] }
  return { type: resolved instanceof protobuf.Enum ? ENUM : delimited ? GROUP : MESSAGE, typeName: resolved.fullName }
}

function mapEntry(field: MapField, made: FieldDescriptor): MessageDescriptor {
  const part = (name: string, number: number, type: { type: number; typeName?: string }): FieldDescriptor => ({
    name,
    number,
    label: LABELS.optional,
    ...type,
    jsonName: name,
  })
  return {
    name: made.typeName!.slice(made.typeName!.lastIndexOf('.') + 1),
    field: [part('key', 1, { type: SCALARS[field.keyType] }), part('value', 2, valueType(field.type, field.resolvedType, false))],
    options: { mapEntry: true },
  }
}

function entryName(field: string): string {
  const camel = jsonNameOf(field)
  return `${camel.charAt(0).toUpperCase()}${camel.slice(1)}Entry`
}

function enumDescriptor(item: Enum): EnumDescriptor {
  const options = item.valuesOptions as Record<string, Options | undefined> | undefined
  const reserved = (item.reserved ?? []) as (number[] | string)[]
  return {
    name: item.name,
    value: Object.entries(item.values).map(([name, number]) => ({ name, number, options: known(options?.[name], 'EnumValueOptions') })),
    options: known(item.options, 'EnumOptions'),
    reservedRange: reserved.filter((range) => typeof range !== 'string').map(([start, end]) => ({ start, end })),
    reservedName: reserved.filter((name) => typeof name === 'string'),
  }
}

function serviceDescriptor(service: Service): ServiceDescriptor {
  return {
    name: service.name,
    method: service.methodsArray.map((method) => ({
      name: method.name,
      inputType: method.resolvedRequestType!.fullName,
      outputType: method.resolvedResponseType!.fullName,
      ...(method.requestStream === true ? { clientStreaming: true } : {}),
      ...(method.responseStream === true ? { serverStreaming: true } : {}),
    })),
    options: known(service.options, 'ServiceOptions'),
  }
}

/** Those that descriptor.proto defines, or undefined when there are none. */
function known(options: Options | undefined, name: string): Options | undefined {
  const { fields } = descriptorType(name)
  const found = Object.entries(options ?? {}).flatMap(([option, value]) => {
    const camel = jsonNameOf(option)
    return Object.hasOwn(fields, camel) && camel !== 'features' && (typeof value !== 'object' || value === null)
      ? [[camel, value] as const]
      : []
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}
