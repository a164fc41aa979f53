import { FrazilError } from '../../base/errors.ts'
import { avroDecoder } from '../avro/decode.ts'
import { avroEncoder } from '../avro/encode.ts'
import { parseAvro } from '../avro/schema.ts'
import type { Input } from '../columns/input.ts'
import type { Output } from '../columns/output.ts'
import type { LeafSink, LeafSource } from '../columns/ports.ts'
import type { ColumnNode } from '../columns/tree.ts'
import type { Recipe, Typing } from './typing.ts'

/**
 * Makes the decoder of a recipe: it reads the payload that stands in `input`, to its end, into columns. Errors of what it
 * returns: Undecodable. Errors of making it: CORRUPT.
 */
export function compileDecoder(
  typing: Typing,
  recipe: Recipe,
  context: { readonly input: Input; readonly tree: ReadonlyMap<number, ColumnNode>; readonly sink: (id: number) => LeafSink },
): () => void {
  const { input } = context
  const schema = typing.schemas[recipe.schema]
  if (recipe.codec !== 'avro') throw unknownCodec(recipe)
  const node = parseAvro(
    schema.text,
    schema.references.map((one) => one.text),
  )
  const read = avroDecoder(node, recipe.plan, context)
  return () => {
    read(0)
    if (input.at !== input.end) input.exact = false
  }
}

/** Makes the encoder of a recipe: it writes framing and payload of the row that the sources stand at. Errors: CORRUPT. */
export function compileEncoder(
  typing: Typing,
  recipe: Recipe,
  context: { readonly output: Output; readonly tree: ReadonlyMap<number, ColumnNode>; readonly source: (id: number) => LeafSource },
): () => void {
  const schema = typing.schemas[recipe.schema]
  const framing = Buffer.from(recipe.framing, 'hex')
  const { output } = context
  if (recipe.codec !== 'avro') throw unknownCodec(recipe)
  const node = parseAvro(
    schema.text,
    schema.references.map((one) => one.text),
  )
  const write = avroEncoder(node, recipe.plan, context)
  return () => {
    output.bytes(framing, 0, framing.length)
    write()
  }
}

function unknownCodec({ codec, codecVersion }: Recipe): FrazilError {
  return new FrazilError('CORRUPT', `a table has values of codec ${codec} ${codecVersion}, which this program does not know`)
}
