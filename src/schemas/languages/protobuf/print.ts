import type { Message } from 'protobufjs'
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
} from './descriptorTypes.ts'

const NAMES = new Map(Object.entries(SCALARS).map(([name, number]) => [number, name]))

/** The .proto text that a descriptor stands for. Type names are written in full, with the leading dot. */
export function writeDescriptor(file: FileDescriptor): string {
  const syntax = file.edition !== undefined && file.edition >= 1000 ? 'editions' : file.syntax === 'proto3' ? 'proto3' : 'proto2'
  const edition = Object.entries(EDITIONS).find(([, number]) => number === file.edition)?.[0]
  const lines = [syntax === 'editions' ? `edition = "${edition}";` : `syntax = "${syntax}";`]
  if (file.package !== undefined && file.package !== '') lines.push(`package ${file.package};`)
  file.dependency?.forEach((name, i) => {
    const kind = file.publicDependency?.includes(i) ? 'public ' : file.weakDependency?.includes(i) ? 'weak ' : ''
    lines.push(`import ${kind}${JSON.stringify(name)};`)
  })
  lines.push(...optionLines(file.options, 'FileOptions'))
  for (const message of file.messageType ?? []) lines.push(...messageLines(message, syntax))
  for (const item of file.enumType ?? []) lines.push(...enumLines(item))
  lines.push(...extensionLines(file.extension, syntax))
  for (const service of file.service ?? []) {
    lines.push(`service ${service.name} {`, ...optionLines(service.options, 'ServiceOptions'))
    for (const method of service.method ?? []) {
      const request = `${method.clientStreaming ? 'stream ' : ''}${method.inputType}`
      const response = `${method.serverStreaming ? 'stream ' : ''}${method.outputType}`
      lines.push(`rpc ${method.name} (${request}) returns (${response});`)
    }
    lines.push('}')
  }
  return `${lines.join('\n')}\n`
}

function messageLines(message: MessageDescriptor, syntax: string): string[] {
  return [`message ${message.name} {`, ...bodyLines(message, syntax), '}']
}

function bodyLines(message: MessageDescriptor, syntax: string): string[] {
  const nested = message.nestedType ?? []
  const entries = new Map(nested.filter(({ options }) => options?.mapEntry === true).map((entry) => [entry.name, entry]))
  const groups = new Map<string, MessageDescriptor>()
  for (const field of [...(message.field ?? []), ...(message.extension ?? [])]) {
    const group = field.type === GROUP ? nested.find(({ name }) => name === lastOf(field.typeName)) : undefined
    if (group !== undefined) groups.set(group.name, group)
  }
  const lines = optionLines(message.options, 'MessageOptions')
  if (message.reservedRange?.length)
    lines.push(`reserved ${message.reservedRange.map(({ start, end }) => range(start, end - 1)).join(', ')};`)
  if (message.reservedName?.length) lines.push(`reserved ${message.reservedName.map((name) => JSON.stringify(name)).join(', ')};`)
  if (message.extensionRange?.length)
    lines.push(`extensions ${message.extensionRange.map(({ start, end }) => range(start, end - 1)).join(', ')};`)
  const written = new Set<number>()
  const context = { entries, groups, syntax }
  for (const field of message.field ?? []) {
    const oneof = field.proto3Optional === true || !isSet(field, 'oneofIndex') ? undefined : field.oneofIndex
    if (oneof === undefined) lines.push(...fieldLines(field, context))
    else if (!written.has(oneof)) {
      written.add(oneof)
      const members = message.field!.filter((other) => isSet(other, 'oneofIndex') && other.oneofIndex === oneof)
      lines.push(`oneof ${message.oneofDecl![oneof].name} {`, ...members.flatMap((member) => fieldLines(member, context, true)), '}')
    }
  }
  for (const item of nested) if (!entries.has(item.name) && !groups.has(item.name)) lines.push(...messageLines(item, syntax))
  for (const item of message.enumType ?? []) lines.push(...enumLines(item))
  lines.push(...extensionLines(message.extension, syntax))
  return lines
}

interface FieldContext {
  readonly entries: ReadonlyMap<string, MessageDescriptor>
  readonly groups: ReadonlyMap<string, MessageDescriptor>
  readonly syntax: string
}

function fieldLines(field: FieldDescriptor, { entries, groups, syntax }: FieldContext, bare = false): string[] {
  const entry = field.type === MESSAGE ? entries.get(lastOf(field.typeName)) : undefined
  const options = fieldOptions(field)
  if (entry !== undefined) {
    const [key, value] = entry.field!
    return [`map<${typeName(key)}, ${typeName(value)}> ${field.name} = ${field.number}${options};`]
  }
  const label = bare ? '' : labelOf(field, syntax)
  const group = field.type === GROUP ? groups.get(lastOf(field.typeName)) : undefined
  if (group !== undefined) return [`${label}group ${group.name} = ${field.number}${options} {`, ...bodyLines(group, syntax), '}']
  return [`${label}${typeName(field)} ${field.name} = ${field.number}${options};`]
}

function labelOf(field: FieldDescriptor, syntax: string): string {
  if (field.label === LABELS.repeated) return 'repeated '
  if (syntax === 'proto2') return field.label === LABELS.required ? 'required ' : 'optional '
  return field.proto3Optional === true ? 'optional ' : ''
}

function fieldOptions(field: FieldDescriptor): string {
  const given: string[] = []
  if (isSet(field, 'defaultValue')) {
    // that of bytes is escaped already
    const text =
      field.type === SCALARS.string
        ? JSON.stringify(field.defaultValue)
        : field.type === SCALARS.bytes
          ? `"${field.defaultValue}"`
          : field.defaultValue
    given.push(`default = ${text}`)
  }
  if (isSet(field, 'jsonName') && field.jsonName !== jsonNameOf(field.name)) given.push(`json_name = ${JSON.stringify(field.jsonName)}`)
  given.push(...optionTexts(field.options, 'FieldOptions'))
  return given.length === 0 ? '' : ` [${given.join(', ')}]`
}

function enumLines(item: EnumDescriptor): string[] {
  const lines = [`enum ${item.name} {`, ...optionLines(item.options, 'EnumOptions')]
  if (item.reservedRange?.length) lines.push(`reserved ${item.reservedRange.map(({ start, end }) => range(start, end)).join(', ')};`)
  if (item.reservedName?.length) lines.push(`reserved ${item.reservedName.map((name) => JSON.stringify(name)).join(', ')};`)
  for (const { name, number, options } of item.value ?? []) {
    const given = optionTexts(options, 'EnumValueOptions')
    lines.push(`${name} = ${number}${given.length === 0 ? '' : ` [${given.join(', ')}]`};`)
  }
  return [...lines, '}']
}

function extensionLines(extensions: readonly FieldDescriptor[] | undefined, syntax: string): string[] {
  const context: FieldContext = { entries: new Map(), groups: new Map(), syntax }
  return (extensions ?? []).flatMap((field) => [`extend ${field.extendee} {`].concat(fieldLines(field, context), '}'))
}

const typeName = (field: FieldDescriptor): string =>
  field.type === MESSAGE || field.type === ENUM || field.type === GROUP ? field.typeName! : NAMES.get(field.type)!
const lastOf = (name = ''): string => name.slice(name.lastIndexOf('.') + 1)
const isSet = (field: FieldDescriptor, name: keyof FieldDescriptor): boolean => Object.hasOwn(field, name)
const range = (start: number, end: number): string =>
  start === end ? `${start}` : end >= 536_870_911 ? `${start} to max` : `${start} to ${end}`

const optionLines = (options: Options | undefined, type: string): string[] => optionTexts(options, type).map((text) => `option ${text};`)

/** Those that descriptor.proto defines; enum values by name. */
function optionTexts(options: Options | undefined, name: string): string[] {
  if (options === undefined || options === null) return []
  const type = descriptorType(name)
  const plain = type.toObject(options as unknown as Message, { enums: String, longs: String }) as Record<string, unknown>
  return Object.entries(plain).flatMap(([option, value]) => {
    if (option === 'mapEntry' || option === 'uninterpretedOption' || typeof value === 'object') return []
    const isEnum = type.fields[option]?.resolvedType !== null
    return [
      `${option.replace(/[A-Z]/g, '_$&').toLowerCase()} = ${typeof value === 'string' && !isEnum ? JSON.stringify(value) : String(value)}`,
    ]
  })
}
