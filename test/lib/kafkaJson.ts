/**
 * Messages in the JSON form of Kafka's own converters (generated ...JsonConverter classes): bytes and uuids in base64, fields that a version
 * lacks left out. Random values of that form, and their translation into the form of protocol/.
 */
import { planOf } from '../../protocol/codec/plan.ts'
import type { Plan, PlanField } from '../../protocol/codec/plan.ts'
import type { Message } from '../../protocol/schema.ts'
import type { Random } from './random.ts'

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** A random value of every field that this version carries. Null where allowed with one chance in four, arrays of 0 to `maxElements`. */
export function randomKafkaJson(message: Message, version: number, random: Random, maxElements = 2): Json {
  return randomStruct(planOf(message, version), random, maxElements)
}

function randomStruct(plan: Plan, random: Random, maxElements: number): Json {
  const present = plan.fields.filter((field) => field.place === 'body' || (field.place === 'tagged' && random.chance(0.7)))
  return Object.fromEntries(present.map((field) => [field.name, randomField(field, random, maxElements)]))
}

function randomField(field: PlanField, random: Random, maxElements: number): Json {
  if (field.nullable && random.chance(0.25)) return null
  if (field.type === 'struct') return randomStruct(field.struct as Plan, random, maxElements)
  if (field.type !== 'array') return randomScalar(field.type, random)
  const element = (): Json =>
    field.struct ? randomStruct(field.struct, random, maxElements) : randomScalar(field.of as PlanField['type'], random)
  return Array.from({ length: random.int(maxElements + 1) }, element)
}

const TEXTS = ['', 'a', 'topic-1', 'höhe', '漢字', '🧊', 'x'.repeat(130), 'y'.repeat(43), 'ä'.repeat(42)]

function randomScalar(type: PlanField['type'], random: Random): Json {
  switch (type) {
    case 'bool':
      return random.chance(0.5)
    case 'string':
      return TEXTS[random.int(TEXTS.length)]
    case 'uuid':
      return random.chance(0.1) ? base64url(Buffer.alloc(16)) : base64url(randomBytes(16, random))
    case 'bytes':
    case 'records':
      return randomBytes([0, 1, 5, 200][random.int(4)], random).toString('base64')
    case 'float64':
      return random.next() * 1e6 - 5e5
    case 'int64':
      return randomInt64(random)
    default: {
      const bits = Number(/\d+$/.exec(type)?.[0])
      const low = type.startsWith('u') ? 0 : -(2 ** (bits - 1))
      return random.chance(0.3) ? [low, low + 2 ** bits - 1, 0, 1][random.int(4)] : low + random.int(2 ** bits)
    }
  }
}

/** Exact in a double, so that every digit can be compared. */
function randomInt64(random: Random): number {
  const size = [2 ** 8, 2 ** 31, 2 ** 33, Number.MAX_SAFE_INTEGER][random.int(4)]
  const magnitude = Math.floor(random.next() * size)
  return random.chance(0.3) && magnitude > 0 ? -magnitude : magnitude
}

function randomBytes(length: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length }, () => random.int(256)))
}

function base64url(bytes: Buffer): string {
  return bytes.toString('base64url')
}

/** The same message as decoding gives it: every field, with the default where the version lacks it. */
export function fromKafkaJson(message: Message, version: number, json: Json): unknown {
  return fromStruct(planOf(message, version), json as { [name: string]: Json })
}

function fromStruct(plan: Plan, json: { [name: string]: Json }): unknown {
  return Object.fromEntries(
    plan.fields.map((field) => [field.name, field.name in json ? fromField(field, json[field.name]) : unset(field)]),
  )
}

function unset(field: PlanField): unknown {
  if (field.default !== undefined) return field.default
  if (field.type === 'array') return []
  return field.type === 'bytes' ? Buffer.alloc(0) : fromStruct(field.struct as Plan, {})
}

function fromField(field: PlanField, json: Json): unknown {
  if (json === null) return null
  if (field.type === 'struct') return fromStruct(field.struct as Plan, json as { [name: string]: Json })
  if (field.type !== 'array') return fromScalar(field.type, json)
  return (json as Json[]).map((element) =>
    field.struct ? fromStruct(field.struct, element as { [name: string]: Json }) : fromScalar(field.of as PlanField['type'], element),
  )
}

function fromScalar(type: PlanField['type'], json: Json): unknown {
  if (type === 'bytes' || type === 'records') return Buffer.from(json as string, 'base64')
  if (type !== 'uuid') return json
  const hex = Buffer.from(json as string, 'base64url').toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
