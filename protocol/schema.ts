/**
 * The shape of a message definition and the TypeScript types that follow from it.
 *
 * A definition is plain data: an object whose keys are the fields in wire order. Version ranges are Kafka's own notation: '3' one version,
 * '0-12' an inclusive range, '9+' from there on, 'none'. Everything else (codec, types, comparison with Kafka's definitions) is derived.
 */

/** The in-memory form of each scalar type. int64 is a JS number: exact within ±2^53, saturated at the int64 range on the wire. */
export interface ScalarValues {
  bool: boolean
  int8: number
  int16: number
  uint16: number
  int32: number
  uint32: number
  int64: number
  float64: number
  string: string
  /** Canonical lower-case text, 16 raw bytes on the wire. */
  uuid: string
  /** Decoded as a view of the frame, not a copy. */
  bytes: Uint8Array
  /** Record batches; decoded as a view of the frame, null by default, never interpreted here. */
  records: Uint8Array
}

export type ScalarType = keyof ScalarValues

interface FieldOptions {
  /** The versions that carry this field. */
  readonly versions: string
  /** The versions in which null is allowed. */
  readonly nullable?: string
  /** The number of a tagged field (KIP-482): left out of the wire while it has its default. */
  readonly tag?: number
  /** The value where the field is absent; else 0, false, '', the zero uuid, an empty array, a struct of defaults, null for records. */
  readonly default?: string | number | boolean | null
  /** A value other than the default is dropped in versions without the field, instead of being an error. */
  readonly ignorable?: true
  /** 'none': the field keeps its old encoding in flexible versions (only the client id of the request header). */
  readonly flexible?: 'none'
}

export interface ScalarField extends FieldOptions {
  readonly type: ScalarType
}

export interface StructField extends FieldOptions {
  readonly type: 'struct'
  readonly fields: Fields
}

/** An array of structs (`fields`) or of scalars (`of`). */
export interface ArrayField extends FieldOptions {
  readonly type: 'array'
  readonly fields?: Fields
  readonly of?: ScalarType
}

export type Field = ScalarField | StructField | ArrayField

export interface Fields {
  readonly [name: string]: Field
}

/** The definition of one message: a request, a response or a header. */
export interface Message {
  /** Kafka's name of the message, such as 'FetchRequest'. */
  readonly name: string
  readonly validVersions: string
  /** From here on: compact lengths and tagged fields (KIP-482). */
  readonly flexibleVersions: string
  readonly fields: Fields
}

/** The definition of one API: its key and both directions. */
export interface Api {
  readonly key: number
  readonly name: string
  /** The newest version is not final in Kafka 4.4: served on request, not advertised. */
  readonly latestVersionUnstable?: true
  /** The lowest version to advertise where it differs from the lowest one served. */
  readonly advertisedMinVersion?: number
  readonly request: Message
  readonly response: Message
}

/** Keeps the literal types of a message definition, from which MessageOf and MessageInput are inferred. */
export function message<const M extends Message>(definition: M): M {
  return definition
}

/** Keeps the literal types of an API definition. */
export function api<const A extends Api>(definition: A): A {
  return definition
}

/** A tagged field that the definition does not know: kept, so that encoding gives the same bytes again. */
export interface UnknownTag {
  tag: number
  data: Uint8Array
}

interface Extra {
  /** Present only when the sender wrote tagged fields unknown here. */
  unknownTags?: UnknownTag[]
}

type OrNull<F, T> = F extends { type: 'records' } | { nullable: string } ? T | null : T

type Decoded<F> = F extends { type: 'array'; of: infer S extends ScalarType }
  ? ScalarValues[S][]
  : F extends { type: 'array'; fields: infer S }
    ? DecodedStruct<S>[]
    : F extends { type: 'struct'; fields: infer S }
      ? DecodedStruct<S>
      : F extends { type: infer S extends ScalarType }
        ? ScalarValues[S]
        : never

type DecodedStruct<S> = { -readonly [K in keyof S]: OrNull<S[K], Decoded<S[K]>> } & Extra

type Encodable<F> = F extends { type: 'array'; of: infer S extends ScalarType }
  ? readonly ScalarValues[S][]
  : F extends { type: 'array'; fields: infer S }
    ? readonly EncodableStruct<S>[]
    : F extends { type: 'struct'; fields: infer S }
      ? EncodableStruct<S>
      : F extends { type: 'records' }
        ? Uint8Array | readonly Uint8Array[]
        : F extends { type: infer S extends ScalarType }
          ? ScalarValues[S]
          : never

/** A field must be given when every version has it and its definition names no default. */
type Required<F> = F extends { default: unknown } | { tag: number } | { ignorable: true }
  ? false
  : F extends { versions: '0+' }
    ? true
    : false

type EncodableStruct<S> = { -readonly [K in keyof S as Required<S[K]> extends true ? K : never]: OrNull<S[K], Encodable<S[K]>> } & {
  -readonly [K in keyof S as Required<S[K]> extends true ? never : K]?: OrNull<S[K], Encodable<S[K]>>
} & Extra

/** A decoded message: every field of every version is there, with its default where the version does not carry it. */
export type MessageOf<M extends Message> = DecodedStruct<M['fields']>

/** What encoding accepts: fields with a default, and those of some versions only, may be left out. */
export type MessageInput<M extends Message> = EncodableStruct<M['fields']>
