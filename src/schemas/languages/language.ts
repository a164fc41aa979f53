import type { ResolvedReference, SchemaType } from '../source.ts'

/** A schema that was understood, with everything it refers to. */
export interface ParsedSchema {
  readonly type: SchemaType
  /** The text in the language's one way of writing it: white space, comments and the order of attributes do not count. */
  readonly canonical: string
  /** The same with everything ordered that has no order (`normalize=true`). */
  normalized(): string
  /**
   * What keeps data written with `writer` from being read with this one, a sentence each; empty when nothing does.
   * Never throws for schemas of the same language.
   */
  unreadable(writer: ParsedSchema): string[]
  /** Protobuf: the FileDescriptorProto in base64 (`format=serialized`); the others have one form only. */
  serialized?(): string
}

/** A schema language. */
export interface Language {
  readonly type: SchemaType
  /** `references` has those referred to by others first. Error: SCHEMA_INVALID with a sentence. */
  parse(text: string, references: readonly ResolvedReference[]): ParsedSchema
}

/** Nesting beyond this is refused before anything recurses into it. */
export const DEPTH_MAX = 200
