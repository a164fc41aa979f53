import { FrazilError } from '../../base/errors.ts'
import { avroDecoder } from '../avro/decode.ts'
import { avroEncoder } from '../avro/encode.ts'
import { parseAvro } from '../avro/schema.ts'
import type { Input } from '../columns/input.ts'
import type { Output } from '../columns/output.ts'
import type { LeafSink, LeafSource } from '../columns/ports.ts'
import type { ColumnNode } from '../columns/tree.ts'
import { jsonDecoder } from '../json/decode.ts'
import { jsonEncoder } from '../json/encode.ts'
import { parseJsonSchema } from '../json/schema.ts'
import { learnShape, type JsonShape } from '../json/shape.ts'
import { protoDecoder } from '../protobuf/decode.ts'
import { protoEncoder } from '../protobuf/encode.ts'
import { normalMessage } from '../protobuf/normal.ts'
import { parseProtobuf } from '../protobuf/schema.ts'
import type { Recipe, Typing } from './typing.ts'

export interface Decoder {
  /** Reads the payload that stands in the input, to its end, into columns. Errors: Undecodable. */
  read(): void
  /** The same payload in the order that `read` needs; null where there is but one order. Errors: Undecodable. */
  readonly normal: ((buf: Uint8Array, start: number, end: number) => Uint8Array) | null
  /** JSON: how a text of this schema is laid out; null when it cannot be told. */
  readonly learn: ((text: Buffer) => JsonShape | null) | null
}

/** Makes the decoder of a recipe. Errors: CORRUPT, SCHEMA_INVALID. */
export function compileDecoder(
  typing: Typing,
  recipe: Recipe,
  context: { readonly input: Input; readonly tree: ReadonlyMap<number, ColumnNode>; readonly sink: (id: number) => LeafSink },
): Decoder {
  const { input } = context
  const { text, references } = typing.schemas[recipe.schema]
  if (recipe.codec === 'protobuf') {
    const message = parseProtobuf(text, references, recipe.message)
    const read = protoDecoder(message, recipe.plan, context)
    return { read: () => read(0), normal: (buf, start, end) => normalMessage(message, buf, start, end), learn: null }
  }
  if (recipe.codec === 'json') {
    const node = parseJsonSchema(text, references)
    const read = jsonDecoder(node, recipe.plan, { ...context, shape: recipe.shape ?? null })
    return { read: () => read(0), normal: null, learn: (sample) => learnShape(node, sample) }
  }
  if (recipe.codec !== 'avro') throw unknownCodec(recipe)
  const texts = references.map((one) => one.text)
  const read = avroDecoder(parseAvro(text, texts), recipe.plan, context)
  const readAll = (): void => {
    read(0)
    if (input.at !== input.end) input.exact = false
  }
  return { read: readAll, normal: null, learn: null }
}

/** Makes the encoder of a recipe: it writes framing and payload of the row that the sources stand at. Errors: CORRUPT. */
export function compileEncoder(
  typing: Typing,
  recipe: Recipe,
  context: { readonly output: Output; readonly tree: ReadonlyMap<number, ColumnNode>; readonly source: (id: number) => LeafSource },
): () => void {
  const framing = Buffer.from(recipe.framing, 'hex')
  const { output } = context
  const write = encoderOf(typing, recipe, context)
  return () => {
    output.bytes(framing, 0, framing.length)
    write()
  }
}

function encoderOf(typing: Typing, recipe: Recipe, context: Parameters<typeof compileEncoder>[2]): () => void {
  const { text, references } = typing.schemas[recipe.schema]
  if (recipe.codec === 'protobuf') return protoEncoder(parseProtobuf(text, references, recipe.message), recipe.plan, context)
  if (recipe.codec === 'json') {
    if (recipe.shape === undefined) throw new FrazilError('CORRUPT', 'a recipe of JSON values has no shape')
    return jsonEncoder(parseJsonSchema(text, references), recipe.plan, context, recipe.shape)
  }
  if (recipe.codec !== 'avro') throw unknownCodec(recipe)
  const texts = references.map((one) => one.text)
  return avroEncoder(parseAvro(text, texts), recipe.plan, context)
}

function unknownCodec({ codec, codecVersion }: Recipe): FrazilError {
  return new FrazilError('CORRUPT', `a table has values of codec ${String(codec)} ${codecVersion}, which this program does not know`)
}
