import type { Clock } from '../base/clock.ts'
import type { TopicSettings } from '../base/config/topicSettings.ts'
import type { Logger } from '../base/log.ts'
import type { GroupCoordinator } from '../groups/coordinator.ts'
import type { Log } from '../log/port.ts'
import type { Refusal, Validated } from '../log/validate.ts'
import type { Metadata } from '../metadata/port.ts'
import type { TopicView } from '../metadata/view.ts'
import type { BrokerConfigs } from './support/brokerConfigs.ts'
import type { FetchSessions } from './support/fetchSessions.ts'
import type { ProducerIds } from './support/producerIds.ts'

/** Address of a node as clients of one listener reach it. */
export interface NodeEndpoint {
  readonly nodeId: number
  readonly host: string
  readonly port: number
  readonly rack: string | null
}

/** Everything the handlers work with; main.ts builds it. */
export interface ApiParts {
  readonly metadata: Metadata
  readonly log: Log
  readonly groups: GroupCoordinator
  readonly clock: Clock
  readonly logger: Logger
  readonly brokerConfigs: BrokerConfigs
  readonly producerIds: ProducerIds
  /** Incremental fetch sessions of this node. */
  readonly fetchSessions: FetchSessions
  /** Typed settings of a topic, cached by config version (base/config TopicSettingsCache). */
  readonly topicSettings: (topic: TopicView) => TopicSettings
  /** Checks a partition's records of a Produce request of this version (log/validate.ts); synchronous, heavy work behind `ready`. */
  readonly validateProduce: (topic: TopicView, records: Uint8Array | null, produceVersion: number) => Validated | Refusal
  /** Nodes that clients of this listener are sent to, by node id; never empty. This one among them unless it leaves. */
  readonly nodes: (listener: string) => readonly NodeEndpoint[]
  /** This node leaves and there are others: clients are sent to them. Absent: never. */
  readonly leaving?: () => boolean
  /**
   * Converts what a topic has not converted yet into its table, before the topic is deleted with `table.on.delete=keep`
   * (T20). Rejects when it cannot.
   */
  readonly convertTopic: (topic: number) => Promise<void>
  /** Where all pods keep everything, as DescribeLogDirs tells it; the volume's bytes where it has a size. */
  readonly logDir: {
    readonly path: string
    readonly volume: () => Promise<{ readonly totalBytes: number; readonly usableBytes: number } | null>
  }
  /** A random v4 UUID as canonical text. */
  readonly randomUuid: () => string
}
