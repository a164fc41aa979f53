import { listItems } from '../../base/config/definition.ts'
import { groupConfigValue } from '../../base/config/groupConfigs.ts'
import type { ConsumerSettings, MigrationPolicy } from '../../groups/consumer/types.ts'
import type { GroupSettings } from '../../groups/types.ts'
import type { BrokerConfigs } from './brokerConfigs.ts'

/** Settings of groups out of Kafka's broker keys. */
export function groupSettings(broker: BrokerConfigs): GroupSettings {
  return {
    initialRebalanceDelayMs: broker.number('group.initial.rebalance.delay.ms'),
    sessionTimeoutMinMs: broker.number('group.min.session.timeout.ms'),
    sessionTimeoutMaxMs: broker.number('group.max.session.timeout.ms'),
    membersMax: broker.number('group.max.size'),
    offsetMetadataMaxLength: broker.number('offset.metadata.max.bytes'),
    offsetsRetentionMs: broker.number('offsets.retention.minutes') * 60_000,
    offsetsRetentionCheckMs: broker.number('offsets.retention.check.interval.ms'),
    consumer: consumerSettings(broker, NO_CONFIGS),
  }
}

const NO_CONFIGS: ReadonlyMap<string, string> = new Map()

/** Settings of one consumer group, with configs of its own. */
export function consumerSettings(broker: BrokerConfigs, own: ReadonlyMap<string, string>): ConsumerSettings {
  const number = (key: string): number => Number(groupConfigValue(key, own, broker))
  return {
    sessionTimeoutMs: number('consumer.session.timeout.ms'),
    heartbeatIntervalMs: number('consumer.heartbeat.interval.ms'),
    assignmentIntervalMs: number('consumer.assignment.interval.ms'),
    migrationPolicy: (broker.value('group.consumer.migration.policy') ?? '').trim().toLowerCase() as MigrationPolicy,
    membersMax: broker.number('group.consumer.max.size'),
    classicMembersMax: broker.number('group.max.size'),
    assignors: listItems(broker.value('group.consumer.assignors') ?? ''),
  }
}
