import { BROKER_CONFIGS } from './brokerConfigs.ts'
import { listItems } from './definition.ts'
import { parsePartitionBy, type PartitionTerm } from './partitionBy.ts'
import { TOPIC_CONFIGS } from './topicConfigs.ts'

/** A topic's configuration as rooms use it. Longs beyond 2^53 are Infinity ("never"). */
export interface TopicSettings {
  readonly cleanupPolicy: ReadonlySet<string>
  readonly compact: boolean
  readonly compressionType: string
  readonly maxMessageBytes: number
  readonly segmentBytes: number
  readonly messageTimestampType: 'CreateTime' | 'LogAppendTime'
  readonly timestampBeforeMaxMs: number
  readonly timestampAfterMaxMs: number
  /** -1 for ever. */
  readonly retentionMs: number
  /** -1 for no bound. */
  readonly retentionBytes: number
  readonly table: TableSettings
}

export type TableFormat = 'iceberg' | 'delta' | 'paimon'

export interface TableSettings {
  readonly enable: boolean
  readonly formats: ReadonlySet<TableFormat>
  /** Of Iceberg: 2 or 3. */
  readonly formatVersion: number
  /** Empty for an unpartitioned table. */
  readonly partitionBy: readonly PartitionTerm[]
  readonly commitIntervalMs: number
  readonly loadWaitMs: number
  readonly targetFileBytes: number
  readonly fileGraceMs: number
  /** -1 for ever; never less than retentionMs. */
  readonly retentionMs: number
  readonly onDelete: 'keep' | 'drop'
  /** `auto`, `none`, or `json:` and a JSON Schema. */
  readonly valueSchema: string
  readonly keySchema: string
}

interface TopicLike {
  readonly name: string
  readonly configs: ReadonlyMap<string, string>
}

/** Where an effective value comes from, as DescribeConfigs names the sources. */
export type ConfigSource = 'topic' | 'dynamic-broker' | 'dynamic-default' | 'static' | 'default'

/** Internal topics and Streams' own are published only when table.enable stands on the topic itself (DESIGN.md). */
export function publishedByDefault(topicName: string): boolean {
  return !topicName.startsWith('__') && !/-(changelog|repartition)$/.test(topicName)
}

/** The effective text of a topic key: the topic's own value, else the broker's dynamic or static one, else the default. */
export function topicConfigValue(key: string, configs: ReadonlyMap<string, string>, broker: BrokerValues): string | null {
  const own = configs.get(key)
  if (own !== undefined) return own
  const definition = TOPIC_CONFIGS.get(key)
  if (definition === undefined) return null
  return (definition.brokerKey === undefined ? undefined : broker.own(definition.brokerKey)) ?? definition.default
}

/** Broker values that were set: dynamically in the state, or statically at start. */
export interface BrokerValues {
  /** The value that was set for a broker key, or undefined when the default holds. */
  own(key: string): string | undefined
}

/** Effective broker value as text. */
export function brokerConfigValue(key: string, broker: BrokerValues): string | null {
  return broker.own(key) ?? BROKER_CONFIGS.get(key)?.default ?? null
}

function long(text: string | null): number {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : number > 0 ? Number.POSITIVE_INFINITY : number
}

/** Derives the typed settings of a topic; cheap enough per change of config, not per request: cache by configVersion. */
export function topicSettings(topic: TopicLike, broker: BrokerValues): TopicSettings {
  const text = (key: string): string => topicConfigValue(key, topic.configs, broker) ?? ''
  const number = (key: string): number => long(text(key))
  const policy = new Set(listItems(text('cleanup.policy')))
  const retentionMs = number('retention.ms')
  const tableRetentionMs = number('table.retention.ms')
  const never = retentionMs === -1 || tableRetentionMs === -1
  return {
    cleanupPolicy: policy,
    compact: policy.has('compact'),
    compressionType: text('compression.type'),
    maxMessageBytes: number('max.message.bytes'),
    segmentBytes: number('segment.bytes'),
    messageTimestampType: text('message.timestamp.type') as 'CreateTime' | 'LogAppendTime',
    timestampBeforeMaxMs: number('message.timestamp.before.max.ms'),
    timestampAfterMaxMs: number('message.timestamp.after.max.ms'),
    retentionMs,
    retentionBytes: number('retention.bytes'),
    table: {
      enable: topic.configs.has('table.enable') ? text('table.enable').toLowerCase() === 'true' : publishedByDefault(topic.name),
      formats: new Set(listItems(text('table.formats')) as TableFormat[]),
      formatVersion: number('table.format.version'),
      partitionBy: parsePartitionBy(text('table.partition.by')),
      commitIntervalMs: number('table.commit.interval.ms'),
      loadWaitMs: number('table.load.wait.ms'),
      targetFileBytes: number('table.target.file.bytes'),
      fileGraceMs: number('table.file.grace.ms'),
      retentionMs: never ? -1 : Math.max(retentionMs, tableRetentionMs),
      onDelete: text('table.on.delete') as 'keep' | 'drop',
      valueSchema: text('table.value.schema'),
      keySchema: text('table.key.schema'),
    },
  }
}

/** `topicSettings` remembered per topic until its config version or the broker's values move. */
export class TopicSettingsCache {
  readonly #broker: BrokerValues
  readonly #brokerVersion: () => number
  readonly #cached = new Map<number, { readonly version: number; readonly brokerVersion: number; readonly settings: TopicSettings }>()

  constructor(broker: BrokerValues, brokerVersion: () => number) {
    this.#broker = broker
    this.#brokerVersion = brokerVersion
  }

  of(topic: TopicLike & { readonly topic: number; readonly configVersion: number }): TopicSettings {
    const brokerVersion = this.#brokerVersion()
    const hit = this.#cached.get(topic.topic)
    if (hit !== undefined && hit.version === topic.configVersion && hit.brokerVersion === brokerVersion) return hit.settings
    const settings = topicSettings(topic, this.#broker)
    this.#cached.set(topic.topic, { version: topic.configVersion, brokerVersion, settings })
    return settings
  }

  /** Drops what is remembered of topics that are gone. */
  forget(topic: number): void {
    this.#cached.delete(topic)
  }
}
