/** The three schema languages, by their names in the registry's API. */
export type SchemaType = 'AVRO' | 'PROTOBUF' | 'JSON'

/** A schema that another one refers to, as it is known there. */
export interface ResolvedReference {
  /** How the referring schema names it: a full Avro name, a Protobuf import path, a JSON Schema `$ref`. */
  readonly name: string
  readonly subject: string
  readonly version: number
  /** The text of the schema. */
  readonly schema: string
}

/** A schema with everything that is needed to parse it. */
export interface ResolvedSchema {
  /** Unique per context. */
  readonly id: number
  /** UUID text that follows from the content: equal schemas have the same one in any context. */
  readonly guid: string
  readonly type: SchemaType
  readonly schema: string
  /** Those referred to by others stand before them; each name once, references of references included. */
  readonly references: readonly ResolvedReference[]
}

/** A schema as a version of a subject. */
export interface ResolvedVersion extends ResolvedSchema {
  readonly subject: string
  readonly version: number
}

/**
 * Where schemas come from: Frazil's own registry, or an outside one (`schema.registry`). null is a definite "there is no
 * such schema". Answers for an id or a guid never change and are cached by the source.
 * Errors: SCHEMA_REGISTRY_UNAVAILABLE (the registry is away or its answer is no answer; ask again later),
 * SCHEMA_INVALID (it exists, but what it refers to does not).
 */
export interface SchemaSource {
  /**
   * The schema with this id. `subject` says in whose context (`:.context:name`) the id is; without it, or with a name
   * that has no context, it is the default context. A soft-deleted schema is found too.
   */
  byId(id: number, subject?: string): Promise<ResolvedSchema | null>
  /** The schema with this guid (id-in-header form). */
  byGuid(guid: string): Promise<ResolvedSchema | null>
  /** The latest version of the subject that is not deleted. */
  latest(subject: string): Promise<ResolvedVersion | null>
}
