import { Errors } from '../../../protocol/index.ts'
import { configProblem, type ConfigDefinition } from '../../base/config/definition.ts'
import { TOPIC_CONFIGS } from '../../base/config/topicConfigs.ts'

/** Kafka keeps a value as a string with an int16 length. */
const VALUE_MAX_BYTES = 32767

export interface ConfigError {
  readonly error: number
  readonly message: string
}

const invalid = (message: string): ConfigError => ({ error: Errors.INVALID_CONFIG, message })

/** What is wrong with setting a key of the table to a value, or null. `kind` is for the sentence: "topic", "broker". */
export function valueProblem(
  kind: string,
  definitions: ReadonlyMap<string, ConfigDefinition>,
  name: string,
  value: string,
): ConfigError | null {
  const definition = definitions.get(name)
  if (definition === undefined) return invalid(`Unknown ${kind} config name: ${name}`)
  if (Buffer.byteLength(value) > VALUE_MAX_BYTES)
    return invalid(`The configuration value of ${name} exceeds the maximum value size of ${VALUE_MAX_BYTES} bytes.`)
  const problem = configProblem(definition, value)
  return problem === null ? null : invalid(problem)
}

/** The configs of a new topic as a map, or what is wrong with them. */
export function newTopicConfigs(
  configs: readonly { readonly name: string; readonly value: string | null }[],
): Record<string, string> | ConfigError {
  const nulls = configs.filter((config) => config.value === null).map((config) => config.name)
  if (nulls.length > 0) return invalid(`Null value not supported for topic configs: ${nulls.join(',')}`)
  const values: Record<string, string> = {}
  for (const { name, value } of configs) {
    const problem = valueProblem('topic', TOPIC_CONFIGS, name, value!)
    if (problem !== null) return problem
    values[name] = value!
  }
  return values
}

export function isConfigError(value: Record<string, string> | ConfigError): value is ConfigError {
  return typeof value.error === 'number'
}
