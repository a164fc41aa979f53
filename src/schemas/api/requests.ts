import { badRequest, invalidSchema, invalidVersion } from '../registry/errors.ts'
import type { SchemaRequest } from '../registry/writes.ts'
import type { SchemaType } from '../source.ts'

const TYPES: readonly SchemaType[] = ['AVRO', 'JSON', 'PROTOBUF']

export type Query = Readonly<Record<string, string | string[] | undefined>>

export const flag = (query: Query, name: string): boolean => String(query[name] ?? '').toLowerCase() === 'true'
export const text = (query: Query, name: string): string | undefined => {
  const value = query[name]
  return Array.isArray(value) ? value[0] : value
}

/** What `offset` and `limit` ask for; no limit when it is negative or left out. */
export function paged<T>(items: readonly T[], query: Query): readonly T[] {
  const offset = whole(query, 'offset', 0)
  const limit = whole(query, 'limit', -1)
  return items.slice(Math.max(0, offset), limit < 0 ? undefined : Math.max(0, offset) + limit)
}

function whole(query: Query, name: string, otherwise: number): number {
  const given = text(query, name)
  if (given === undefined || given === '') return otherwise
  const value = Number(given)
  if (!Number.isSafeInteger(value)) throw badRequest(`"${name}" is no whole number`)
  return value
}

/** A version, or -1 for "latest". Error: 42202. */
export function parseVersion(given: string): number {
  if (given === 'latest' || given === '-1') return -1
  const version = /^\d{1,10}$/.test(given) ? Number(given) : 0
  if (version < 1 || version > 0x7fffffff) throw invalidVersion(given)
  return version
}

/** The id in a path, or null for what is no id. */
export function parseId(given: string): number | null {
  return /^\d{1,10}$/.test(given) && Number(given) <= 0x7fffffff ? Number(given) : null
}

export function objectOf(body: unknown): Readonly<Record<string, unknown>> {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) throw badRequest('the body is no JSON object')
  return body as Readonly<Record<string, unknown>>
}

/** A schema as it is sent. Errors: 400, 42201. */
export function parseSchemaRequest(body: unknown): SchemaRequest {
  const { schema, schemaType, references, metadata, ruleSet, id, version } = objectOf(body)
  const type = schemaType === undefined || schemaType === null || schemaType === '' ? 'AVRO' : TYPES.find((known) => known === schemaType)
  if (type === undefined) throw invalidSchema(`the schema type ${JSON.stringify(schemaType)} is none of ${TYPES.join(', ')}`)
  if (typeof schema !== 'string' || schema.trim() === '') throw invalidSchema('it is empty')
  const list = references ?? []
  if (!Array.isArray(list)) throw badRequest('"references" is no array')
  return {
    type,
    schema,
    references: list.map(parseReference),
    metadata: object(metadata, 'metadata'),
    ruleSet: object(ruleSet, 'ruleSet'),
    id: number(id, 'id'),
    version: number(version, 'version'),
  }
}

function parseReference(given: unknown): SchemaRequest['references'][number] {
  const { name, subject, version } = objectOf(given)
  if (typeof name !== 'string' || name === '' || typeof subject !== 'string' || subject === '' || !Number.isSafeInteger(version))
    throw invalidSchema('a reference needs name, subject and version')
  return { name, subject, version: version as number }
}

function object(value: unknown, name: string): unknown {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object' || Array.isArray(value)) throw badRequest(`"${name}" is no object`)
  return value
}

function number(value: unknown, name: string): number {
  if (value === undefined || value === null) return 0
  if (!Number.isInteger(value) || (value as number) < -1 || (value as number) > 0x7fffffff) throw badRequest(`"${name}" is no whole number`)
  return Math.max(0, value as number)
}
