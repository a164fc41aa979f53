import { listItems } from '../../base/config/definition.ts'
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
    consumer: {
      sessionTimeoutMs: broker.number('group.consumer.session.timeout.ms'),
      heartbeatIntervalMs: broker.number('group.consumer.heartbeat.interval.ms'),
      membersMax: broker.number('group.consumer.max.size'),
      assignors: listItems(broker.value('group.consumer.assignors') ?? ''),
    },
  }
}
