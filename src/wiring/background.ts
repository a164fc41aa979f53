import type { BrokerConfigs } from '../api/support/brokerConfigs.ts'
import type { Clock } from '../base/clock.ts'
import type { Settings } from '../base/config/settings.ts'
import type { TopicSettings } from '../base/config/topicSettings.ts'
import type { Logger } from '../base/log.ts'
import { Retention } from '../log/retention.ts'
import { TransactionTimeouts } from '../log/transactionTimeouts.ts'
import type { Metadata } from '../metadata/port.ts'
import type { TopicView } from '../metadata/view.ts'
import type { ObjectStore } from '../storage/store.ts'
import type { Tables } from '../tables/tables.ts'
import { Deleter } from '../wal/deleter.ts'
import { Evacuator } from '../wal/evacuate.ts'
import type { WalSequences } from '../wal/sequences.ts'
import type { WriteAheadLog } from '../wal/wal.ts'
import type { Registry } from 'prom-client'

/** Work that goes on beside requests. */
export interface BackgroundPart {
  start(): void
  close(): Promise<void>
}

interface BackgroundOptions {
  readonly settings: Settings
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly wal: WriteAheadLog
  readonly sequences: WalSequences
  readonly brokerConfigs: BrokerConfigs
  readonly topicSettings: (topic: TopicView) => TopicSettings
  readonly tables: Tables
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Whether it is this pod's turn for a kind of work; nothing for a log of one. */
  readonly turn: (work: string) => (() => boolean) | undefined
}

/** Deletions, evacuation, retention and timeouts of one process, not started yet. */
export function backgroundParts(options: BackgroundOptions): BackgroundPart[] {
  const { settings, store, metadata, wal, sequences, brokerConfigs, topicSettings, tables, clock, logger, registry, turn } = options
  return [
    new Deleter({ store, metadata, clock, logger, registry, turn: turn('deletions') }),
    new Evacuator({
      store,
      metadata,
      wal,
      sequences,
      clock,
      logger,
      turn: turn('evacuation'),
      registry,
      afterMs: settings.walEvacuateMs,
      everyMs: Math.min(30_000, settings.walEvacuateMs),
      segmentBytes: settings.walMaxBytes,
      graceMs: settings.walGraceMs,
    }),
    new Retention({
      metadata,
      clock,
      logger,
      turn: turn('retention'),
      rules: topicSettings,
      requestConversion: (topic) => tables.converter.request(topic, 'convert'),
      everyMs: brokerConfigs.number('log.retention.check.interval.ms'),
      producerExpiryMs: brokerConfigs.number('producer.id.expiration.ms'),
    }),
    new TransactionTimeouts({
      metadata,
      clock,
      logger,
      everyMs: brokerConfigs.number('transaction.abort.timed.out.transaction.cleanup.interval.ms'),
      idExpiryMs: brokerConfigs.number('transactional.id.expiration.ms'),
    }),
  ]
}
