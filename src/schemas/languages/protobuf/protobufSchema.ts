import type { Language, ParsedSchema } from '../language.ts'
import { protobufUnreadable } from './compatibility.ts'
import { decodeDescriptor, encodeDescriptor } from './descriptor.ts'
import { type ProtoFile, readFile } from './file.ts'
import { normalize } from './normalize.ts'
import { writeDescriptor } from './print.ts'
import { writeStatements } from './text.ts'

/** Protobuf: the text of a .proto file, or a FileDescriptorProto in base64, as Python's serializer registers it. */
export const protobufLanguage: Language = {
  type: 'PROTOBUF',
  parse(text, references) {
    const descriptor = decodeDescriptor(text)
    return new ProtobufSchema(readFile(descriptor === null ? text : writeDescriptor(descriptor), references))
  },
}

class ProtobufSchema implements ParsedSchema {
  readonly type = 'PROTOBUF'
  readonly canonical: string
  readonly file: ProtoFile

  constructor(file: ProtoFile) {
    this.file = file
    this.canonical = writeStatements(file.statements)
  }

  normalized(): string {
    return writeStatements(normalize(this.file))
  }

  unreadable(writer: ParsedSchema): string[] {
    return protobufUnreadable(this.file, (writer as ProtobufSchema).file)
  }

  serialized(): string {
    return encodeDescriptor(this.file)
  }
}
