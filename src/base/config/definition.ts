/** Types as DescribeConfigs numbers them (KIP-569). */
export const ConfigType = { BOOLEAN: 1, STRING: 2, INT: 3, SHORT: 4, LONG: 5, DOUBLE: 6, LIST: 7, CLASS: 8, PASSWORD: 9 } as const
export type ConfigTypeName = keyof typeof ConfigType

/** One configuration key of a topic, broker or group: what Kafka's own ConfigDef holds, and the check of a value. */
export interface ConfigDefinition {
  readonly name: string
  readonly type: ConfigTypeName
  /** The default as text, null where Kafka has none. */
  readonly default: string | null
  readonly doc: string
  /** Broker key whose value is this topic key's default, if any. */
  readonly brokerKey?: string
  /** True where a running broker cannot change it. */
  readonly readOnly?: boolean
  readonly min?: number
  readonly max?: number
  /** Allowed values (of a STRING, or of each element of a LIST). */
  readonly oneOf?: readonly string[]
  /** A further check: a sentence about what is wrong, or null. */
  readonly check?: (value: string) => string | null
}

const INTEGER = /^[+-]?\d+$/
const RANGES: Partial<Record<ConfigTypeName, readonly [bigint, bigint]>> = {
  SHORT: [-32768n, 32767n],
  INT: [-2147483648n, 2147483647n],
  LONG: [-9223372036854775808n, 9223372036854775807n],
}

/**
 * What is wrong with a value, as one sentence in the manner of Kafka's ConfigException, or null when it is fine.
 * The value is text, as clients send it.
 */
export function configProblem(definition: ConfigDefinition, value: string): string | null {
  const wrong = (why: string): string => `Invalid value ${value} for configuration ${definition.name}: ${why}`
  const text = value.trim()
  const range = RANGES[definition.type]
  if (range !== undefined) {
    if (!INTEGER.test(text)) return wrong(`Not a number of type ${definition.type}`)
    const number = BigInt(text)
    if (number < range[0] || number > range[1]) return wrong(`Not a number of type ${definition.type}`)
    if (definition.min !== undefined && number < BigInt(definition.min)) return wrong(`Value must be at least ${definition.min}`)
    if (definition.max !== undefined && number > BigInt(definition.max)) return wrong(`Value must be no more than ${definition.max}`)
  } else if (definition.type === 'DOUBLE') {
    const number = text === '' ? Number.NaN : Number(text)
    if (!Number.isFinite(number)) return wrong('Not a number of type DOUBLE')
    if (definition.min !== undefined && number < definition.min) return wrong(`Value must be at least ${definition.min}`)
    if (definition.max !== undefined && number > definition.max) return wrong(`Value must be no more than ${definition.max}`)
  } else if (definition.type === 'BOOLEAN') {
    if (!/^(true|false)$/i.test(text)) return wrong('Expected value to be either true or false')
  } else if (definition.oneOf !== undefined) {
    const items = definition.type === 'LIST' ? listItems(text) : [text]
    const odd = items.find((item) => !definition.oneOf!.includes(item))
    if (odd !== undefined) return wrong(`String must be one of: ${definition.oneOf.join(', ')}`)
  }
  const further = definition.check?.(text) ?? null
  return further === null ? null : wrong(further)
}

/** The elements of a LIST value. */
export function listItems(value: string): string[] {
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** A definition by name out of a table of them. */
export function byName(definitions: readonly ConfigDefinition[]): ReadonlyMap<string, ConfigDefinition> {
  return new Map(definitions.map((definition) => [definition.name, definition]))
}
