import { Errors } from '../../../protocol/index.ts'
import { BROKER_CONFIGS } from '../../base/config/brokerConfigs.ts'
import type { ConfigDefinition } from '../../base/config/definition.ts'
import { GROUP_CONFIGS, groupConfigsProblem, groupConfigValue } from '../../base/config/groupConfigs.ts'
import { topicConfigValue } from '../../base/config/topicSettings.ts'
import { TOPIC_CONFIGS } from '../../base/config/topicConfigs.ts'
import type { AlterConfigs } from '../../metadata/commands.ts'
import type { ApiParts } from '../parts.ts'
import { ResourceType } from './resources.ts'
import { topicNameProblem } from './topics.ts'
import type { ConfigError } from './topicConfigs.ts'

/** A resource whose configs can be changed. */
export interface AlterTarget {
  readonly target: AlterConfigs['target']
  /** For messages. */
  readonly kind: 'topic' | 'broker' | 'group'
  readonly definitions: ReadonlyMap<string, ConfigDefinition>
  /** What the resource has of its own. */
  readonly own: ReadonlyMap<string, string>
  /** The value that holds for a key: what APPEND starts from. */
  readonly effective: (name: string) => string | null
  /** What is wrong with all that the resource would have of its own, or null. */
  readonly wholeProblem?: (own: ReadonlyMap<string, string>) => string | null
}

export function alterTarget(resourceType: number, resourceName: string, parts: ApiParts): AlterTarget | ConfigError {
  if (resourceType === ResourceType.TOPIC) return topicTarget(resourceName, parts)
  if (resourceType === ResourceType.BROKER) return brokerTarget(resourceName, parts)
  if (resourceType === ResourceType.GROUP) return groupTarget(resourceName, parts)
  return { error: Errors.INVALID_REQUEST, message: `Unsupported resource type: ${resourceType}` }
}

/** Any name: a group may have configs before it is there. */
function groupTarget(group: string, { metadata, brokerConfigs }: ApiParts): AlterTarget | ConfigError {
  if (group === '') return { error: Errors.INVALID_REQUEST, message: 'Default group resources are not allowed.' }
  const own = metadata.state.groupConfigs(group)
  return {
    target: { group },
    kind: 'group',
    definitions: GROUP_CONFIGS,
    own,
    effective: (key) => groupConfigValue(key, own, brokerConfigs),
    wholeProblem: (all) => groupConfigsProblem(all, brokerConfigs),
  }
}

function topicTarget(name: string, { metadata, brokerConfigs }: ApiParts): AlterTarget | ConfigError {
  const problem = topicNameProblem(name)
  if (problem !== null) return { error: Errors.INVALID_TOPIC_EXCEPTION, message: problem }
  const topic = metadata.state.topicByName(name)
  if (topic === null) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION, message: `The topic '${name}' does not exist.` }
  return {
    target: { topic: topic.topic },
    kind: 'topic',
    definitions: TOPIC_CONFIGS,
    own: topic.configs,
    effective: (key) => topicConfigValue(key, topic.configs, brokerConfigs),
  }
}

function brokerTarget(name: string, { metadata, brokerConfigs }: ApiParts): AlterTarget | ConfigError {
  if (name !== '') {
    if (!/^-?\d+$/.test(name)) return { error: Errors.INVALID_REQUEST, message: `Broker id must be an integer, but it is: ${name}` }
    const known = [...metadata.state.pods()].some((pod) => pod.nodeId === Number(name))
    if (!known) return { error: Errors.INVALID_REQUEST, message: `Unexpected broker id, expected ${metadata.nodeId}, but received ${name}` }
  }
  const broker = name === '' ? '' : String(Number(name))
  return {
    target: { broker },
    kind: 'broker',
    definitions: BROKER_CONFIGS,
    own: metadata.state.brokerConfigs(broker),
    effective: (key) => brokerConfigs.value(key),
  }
}
