import protobuf, { type Type } from 'protobufjs'
import descriptorRoot from 'protobufjs/ext/descriptor.js'

/** google/protobuf/descriptor.proto, as far as text and descriptor say the same. Numbers of types are those of the file. */
export interface FileDescriptor {
  name?: string
  package?: string
  dependency?: string[]
  publicDependency?: number[]
  weakDependency?: number[]
  messageType?: MessageDescriptor[]
  enumType?: EnumDescriptor[]
  service?: ServiceDescriptor[]
  extension?: FieldDescriptor[]
  options?: Options
  syntax?: string
  edition?: number
}
export type Options = Record<string, unknown>
export interface MessageDescriptor {
  name: string
  field?: FieldDescriptor[]
  extension?: FieldDescriptor[]
  nestedType?: MessageDescriptor[]
  enumType?: EnumDescriptor[]
  extensionRange?: { start: number; end: number }[]
  oneofDecl?: { name: string; options?: Options }[]
  options?: Options
  reservedRange?: { start: number; end: number }[]
  reservedName?: string[]
}
export interface FieldDescriptor {
  name: string
  number: number
  label: number
  type: number
  typeName?: string
  extendee?: string
  defaultValue?: string
  oneofIndex?: number
  jsonName?: string
  options?: Options
  proto3Optional?: boolean
}
export interface EnumDescriptor {
  name: string
  value?: { name: string; number: number; options?: Options }[]
  options?: Options
  reservedRange?: { start: number; end: number }[]
  reservedName?: string[]
}
export interface ServiceDescriptor {
  name: string
  method?: {
    name: string
    inputType: string
    outputType: string
    clientStreaming?: boolean
    serverStreaming?: boolean
    options?: Options
  }[]
  options?: Options
}

/** The messages of descriptor.proto, by name. */
export const descriptorType = (name: string): Type => (descriptorRoot as unknown as protobuf.Namespace).lookupType(name)

export const SCALARS: Readonly<Record<string, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
}
export const GROUP = 10
export const MESSAGE = 11
export const ENUM = 14
export const LABELS = { optional: 1, required: 2, repeated: 3 } as const

export const EDITIONS: Readonly<Record<string, number>> = { '2023': 1000, '2024': 1001 }

/** The JSON name of a field (protobuf.dev, "ProtoJSON format"). */
export const jsonNameOf = (name: string): string => name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase())
