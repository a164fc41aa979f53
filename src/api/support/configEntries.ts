import { BROKER_CONFIGS } from '../../base/config/brokerConfigs.ts'
import { ConfigType, type ConfigDefinition } from '../../base/config/definition.ts'
import { GROUP_CONFIGS, groupConfigValue } from '../../base/config/groupConfigs.ts'
import { TOPIC_CONFIGS } from '../../base/config/topicConfigs.ts'
import { publishedByDefault } from '../../base/config/topicSettings.ts'
import type { BrokerConfigs, BrokerSource } from './brokerConfigs.ts'

/** Sources as DescribeConfigs numbers them (KIP-226). */
export const ConfigSource = { topic: 1, 'dynamic-broker': 2, 'dynamic-default': 3, static: 4, default: 5, group: 8 } as const

export interface ConfigEntry {
  readonly name: string
  readonly value: string | null
  readonly readOnly: boolean
  readonly configSource: number
  readonly isSensitive: boolean
  readonly configType: number
  readonly documentation: string
  readonly synonyms: readonly { readonly name: string; readonly value: string | null; readonly source: number }[]
}

type Synonym = ConfigEntry['synonyms'][number]

function entry(definition: ConfigDefinition, synonyms: readonly Synonym[], fallback: string | null): ConfigEntry {
  const isSensitive = definition.type === 'PASSWORD'
  const shown = isSensitive ? synonyms.map((synonym) => ({ ...synonym, value: null })) : synonyms
  return {
    name: definition.name,
    value: isSensitive ? null : (shown[0]?.value ?? fallback),
    readOnly: definition.readOnly === true,
    configSource: shown[0]?.source ?? ConfigSource.default,
    isSensitive,
    configType: ConfigType[definition.type],
    documentation: definition.doc,
    synonyms: shown,
  }
}

function brokerSynonyms(key: string, broker: BrokerConfigs): Synonym[] {
  return broker.sources(key).map(({ source, value }) => ({ name: key, value, source: ConfigSource[source satisfies BrokerSource] }))
}

/** Every key of a topic with its effective value: the topic's own, then what the broker has for it. */
export function topicEntries(topicName: string, configs: ReadonlyMap<string, string>, broker: BrokerConfigs): ConfigEntry[] {
  return Array.from(TOPIC_CONFIGS.values(), (definition) => {
    const { name, brokerKey } = definition
    const own = configs.get(name)
    const synonyms = brokerKey === undefined ? [] : brokerSynonyms(brokerKey, broker)
    if (own !== undefined) synonyms.unshift({ name, value: own, source: ConfigSource.topic })
    const fallback = name === 'table.enable' ? String(publishedByDefault(topicName)) : definition.default
    return entry(definition, synonyms, fallback)
  })
}

/** Every key of a group with the value that holds: the group's own, within the broker's bounds, then what the broker has for it. */
export function groupEntries(own: ReadonlyMap<string, string>, broker: BrokerConfigs): ConfigEntry[] {
  return Array.from(GROUP_CONFIGS.values(), (definition) => {
    const { name, brokerKey } = definition
    const synonyms = brokerSynonyms(brokerKey!, broker)
    if (own.has(name)) synonyms.unshift({ name, value: groupConfigValue(name, own, broker), source: ConfigSource.group })
    return entry(definition, synonyms, definition.default)
  })
}

/** Every key of this node with its effective value. */
export function brokerEntries(broker: BrokerConfigs): ConfigEntry[] {
  return Array.from(BROKER_CONFIGS.values(), (definition) => entry(definition, brokerSynonyms(definition.name, broker), definition.default))
}

/** The keys that were set for the whole cluster, and only those. */
export function clusterDefaultEntries(configs: ReadonlyMap<string, string>): ConfigEntry[] {
  const entries: ConfigEntry[] = []
  for (const [name, value] of configs) {
    const definition = BROKER_CONFIGS.get(name)
    if (definition !== undefined) entries.push(entry(definition, [{ name, value, source: ConfigSource['dynamic-default'] }], null))
  }
  return entries
}
