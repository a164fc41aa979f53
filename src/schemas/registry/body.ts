import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { FrazilError } from '../../base/errors.ts'
import type { SchemaType } from '../source.ts'

/** Schemas beyond this are refused before they are parsed; with what is around it, one fits a metadata proposal. */
export const SCHEMA_MAX_BYTES = 10 * 1024 * 1024
const BODY_MAX_BYTES = 3 * SCHEMA_MAX_BYTES

export interface Reference {
  readonly name: string
  readonly subject: string
  readonly version: number
}

/** What a schema says: its text and what was registered with it. */
export interface SchemaBody {
  readonly type: SchemaType
  readonly schema: string
  readonly references: readonly Reference[]
  /** As given; opaque here. */
  readonly metadata?: unknown
  readonly ruleSet?: unknown
}

/** As it lies in the metadata log: JSON in raw deflate, fields in this order. */
export function encodeBody({ type, schema, references, metadata, ruleSet }: SchemaBody): Uint8Array {
  return deflateRawSync(Buffer.from(JSON.stringify({ type, schema, references, metadata, ruleSet }), 'utf8'))
}

/** Error: CORRUPT. */
export function decodeBody(bytes: Uint8Array): SchemaBody {
  try {
    return JSON.parse(inflateRawSync(bytes, { maxOutputLength: BODY_MAX_BYTES }).toString('utf8')) as SchemaBody
  } catch (error) {
    throw new FrazilError('CORRUPT', 'a registered schema cannot be read', error)
  }
}

/** What makes two schemas the same one: type, canonical text, references, metadata and rules. */
export function guidOf(body: SchemaBody): string {
  const hex = createHash('sha256')
    .update(JSON.stringify([body.type, body.schema, body.references.map(({ name, subject, version }) => [name, subject, version])]))
    .update(JSON.stringify([body.metadata ?? null, body.ruleSet ?? null]))
    .digest('hex')
  // a UUID of version 8, whose bits are the maker's own
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
