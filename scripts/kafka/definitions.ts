/** Kafka's JSON message definitions as ours, and the differences between two definitions. */
import { planOf } from '../../protocol/codec/plan.ts'
import type { Plan, PlanField } from '../../protocol/codec/plan.ts'
import type { Field, Fields, Message, ScalarType } from '../../protocol/schema.ts'
import { parseVersions } from '../../protocol/versions.ts'

interface KafkaField {
  name: string
  type: string
  versions: string
  nullableVersions?: string
  taggedVersions?: string
  tag?: number
  default?: string | number | boolean
  ignorable?: boolean | string
  flexibleVersions?: string
  fields?: KafkaField[]
}

export interface KafkaMessage {
  apiKey?: number
  name: string
  validVersions: string
  flexibleVersions: string
  latestVersionUnstable?: boolean
  fields: KafkaField[]
  commonStructs?: { name: string; fields: KafkaField[] }[]
}

/** Parses a definition file: JSON with // comments outside of strings. */
export function parseKafkaMessage(text: string): KafkaMessage {
  return JSON.parse(text.replaceAll(/("(?:[^"\\]|\\.)*")|\/\/[^\n]*/g, (_, quoted: string | undefined) => quoted ?? '')) as KafkaMessage
}

/** The same definition in our form. Throws where ours has no way to say it. */
export function toMessage(kafka: KafkaMessage): Message {
  const structs = new Map((kafka.commonStructs ?? []).map((struct) => [struct.name, struct.fields]))
  const { name, validVersions, flexibleVersions } = kafka
  return { name, validVersions, flexibleVersions, fields: toFields(kafka.fields, structs) }
}

function toFields(fields: readonly KafkaField[], structs: ReadonlyMap<string, KafkaField[]>): Fields {
  return Object.fromEntries(fields.map((field) => [camel(field.name), toField(field, structs)]))
}

function camel(name: string): string {
  return name[0].toLowerCase() + name.slice(1)
}

function toField(field: KafkaField, structs: ReadonlyMap<string, KafkaField[]>): Field {
  if (field.tag !== undefined && field.taggedVersions !== field.versions) {
    throw new Error(`${field.name} is tagged in ${field.taggedVersions} but there in ${field.versions}`)
  }
  const options = {
    versions: field.versions,
    nullable: field.nullableVersions,
    tag: field.tag,
    default: toDefault(field),
    ignorable: field.ignorable === true || field.ignorable === 'true' ? (true as const) : undefined,
    flexible: field.flexibleVersions === 'none' ? ('none' as const) : undefined,
  }
  if (field.flexibleVersions !== undefined && !options.flexible) throw new Error(`${field.name} is flexible in ${field.flexibleVersions}`)
  const element = field.type.replace('[]', '')
  const isStruct = /^[A-Z]/.test(element)
  const fields = isStruct ? toFields(field.fields ?? structs.get(element) ?? [], structs) : undefined
  if (element !== field.type) return { ...options, type: 'array', ...(fields ? { fields } : { of: element as ScalarType }) }
  return fields ? { ...options, type: 'struct', fields } : { ...options, type: element as ScalarType }
}

function toDefault(field: KafkaField): string | number | boolean | null | undefined {
  const { type, default: value } = field
  if (value === undefined) return undefined
  if (value === 'null') return null
  if (type === 'string') return String(value)
  if (type === 'bool') return String(value) === 'true'
  if (/^u?int\d+$|^float64$/.test(type)) return Number(value)
  throw new Error(`${field.name} of type ${type} has default ${String(value)}`)
}

/** Every difference between two definitions, a sentence each: ranges, and field by field in every valid version. */
export function differences(ours: Message, kafka: Message): string[] {
  const found: string[] = []
  for (const key of ['validVersions', 'flexibleVersions'] as const) {
    if (ours[key] !== kafka[key]) found.push(`${ours.name}: ${key} ${ours[key]}, Kafka ${kafka[key]}`)
  }
  const { min, max } = parseVersions(kafka.validVersions)
  for (let version = min; version <= max; version++) {
    for (const text of planDifferences(planOf(ours, version), planOf(kafka, version))) found.push(`${ours.name} v${version}: ${text}`)
  }
  return found
}

function planDifferences(ours: Plan, kafka: Plan, path = ''): string[] {
  const found: string[] = []
  const [ourNames, kafkaNames] = [ours.fields, kafka.fields].map((fields) => fields.map((field) => field.name).join(' '))
  if (ourNames !== kafkaNames) return [`${path || 'top'}: fields [${ourNames}], Kafka [${kafkaNames}]`]
  if (ours.flexible !== kafka.flexible) found.push(`${path || 'top'}: flexible ${ours.flexible}, Kafka ${kafka.flexible}`)
  ours.fields.forEach((field, i) => found.push(...fieldDifferences(field, kafka.fields[i])))
  return found
}

const COMPARED = ['type', 'of', 'place', 'tag', 'compact', 'nullable', 'ignorable', 'default'] as const

function fieldDifferences(ours: PlanField, kafka: PlanField): string[] {
  const found = COMPARED.filter((key) => ours[key] !== kafka[key]).map(
    (key) => `${ours.path}: ${key} ${JSON.stringify(ours[key])}, Kafka ${JSON.stringify(kafka[key])}`,
  )
  if (ours.struct && kafka.struct) found.push(...planDifferences(ours.struct, kafka.struct, ours.path))
  else if (ours.struct || kafka.struct) found.push(`${ours.path}: only one of the two has fields`)
  return found
}
