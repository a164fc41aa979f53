import { BROKER_CONFIGS } from './brokerConfigs.ts'
import { byName, configProblem, type ConfigDefinition } from './definition.ts'
import { brokerConfigValue, type BrokerValues } from './topicSettings.ts'

/** A key of a group whose bounds are broker keys, as `group.consumer.min.…` and `group.consumer.max.…`. */
interface BoundedDefinition extends ConfigDefinition {
  readonly brokerKey: string
  readonly minKey: string
  readonly maxKey: string
}

function bounded(name: string, doc: string): BoundedDefinition {
  const brokerKey = `group.${name}`
  const what = name.slice('consumer.'.length)
  const { type, default: value, min } = BROKER_CONFIGS.get(brokerKey)!
  const bounds = { minKey: `group.consumer.min.${what}`, maxKey: `group.consumer.max.${what}` }
  return { name, type, default: value, min: min ?? 0, brokerKey, ...bounds, doc }
}

const SESSION = bounded('consumer.session.timeout.ms', 'After what silence a member of the consumer group (KIP-848) is taken out.')
const HEARTBEAT = bounded(
  'consumer.heartbeat.interval.ms',
  'How often members of the consumer group (KIP-848) are told to send a heartbeat.',
)
const ASSIGNMENT = bounded(
  'consumer.assignment.interval.ms',
  'How soon after its assignment was computed the consumer group (KIP-848) may get another one (KIP-1263).',
)

/** Keys of groups, by Kafka's names; those of share and streams groups come with them. */
export const GROUP_CONFIGS: ReadonlyMap<string, ConfigDefinition> = byName([ASSIGNMENT, HEARTBEAT, SESSION])

/** The value that holds for a group: its own, within the broker's bounds of today, or the broker's. */
export function groupConfigValue(key: string, own: ReadonlyMap<string, string>, broker: BrokerValues): string | null {
  const definition = GROUP_CONFIGS.get(key) as BoundedDefinition
  const value = own.get(key)
  if (value === undefined) return brokerConfigValue(definition.brokerKey, broker)
  const [min, max] = boundsOf(definition, broker)
  return String(Math.min(Math.max(Number(value), min), max))
}

function boundsOf({ minKey, maxKey }: BoundedDefinition, broker: BrokerValues): readonly [number, number] {
  return [Number(brokerConfigValue(minKey, broker)), Number(brokerConfigValue(maxKey, broker))]
}

/** What is wrong with all the configs of a group as they will be, as one sentence, or null (K: GroupConfig.validate). */
export function groupConfigsProblem(own: ReadonlyMap<string, string>, broker: BrokerValues): string | null {
  for (const [key, value] of own) {
    const definition = GROUP_CONFIGS.get(key) as BoundedDefinition | undefined
    if (definition === undefined) return `Unknown group config name: ${key}`
    const problem = configProblem(definition, value)
    if (problem !== null) return problem
    const [min, max] = boundsOf(definition, broker)
    if (Number(value) < min || Number(value) > max) return `${key} must be in the range ${min} to ${max} inclusive.`
  }
  if (!own.has(SESSION.name) && !own.has(HEARTBEAT.name)) return null
  const number = ({ name, brokerKey }: BoundedDefinition): number => Number(own.get(name) ?? brokerConfigValue(brokerKey, broker))
  return number(SESSION) > number(HEARTBEAT) ? null : `${SESSION.name} must be greater than ${HEARTBEAT.name}`
}
