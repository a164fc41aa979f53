import type { BrokerShape } from './pod/broker.ts'
import type { World } from './world/world.ts'

export interface Shape {
  readonly pods: number
  readonly partitions: number
  /** Producers of each partition. */
  readonly producersEach: number
  readonly consumers: number
  readonly transactional: number
  readonly faultEveryMs: number
  /** Pods talk to each other. */
  readonly isLinked: boolean
  readonly topicConfigs: Readonly<Record<string, string>>
  readonly broker: BrokerShape
}

/** What is particular to a seed: sizes and limits so small that what is rare elsewhere happens here. */
export function shapeOf(world: World): Shape {
  const converting = world.chance(0.25)
  return {
    pods: world.pick([1, 2, 2, 3]),
    partitions: world.pick([1, 2, 3]),
    producersEach: world.pick([1, 2, 3]),
    consumers: 2,
    transactional: world.pick([0, 0, 1, 2]),
    isLinked: world.chance(0.8),
    faultEveryMs: world.pick([300, 600, 1000]),
    topicConfigs: { 'table.commit.interval.ms': world.pick(['500', '3000']) },
    broker: {
      lingerMs: world.pick([1, 5, 50]),
      walMaxBytes: world.pick([300, 2000, 1 << 20]),
      hotCacheBytes: world.pick([0, 3000, 1 << 24]),
      snapshotEntries: world.pick([15, 60, 200]),
      logRetentionMs: world.pick([1000, 4000]),
      graceMs: world.pick([200, 2000, 30_000]),
      evacuateMs: world.pick([1000, 4000, 1_000_000]),
      convertBytes: world.pick([500, 4000]),
      commitIntervalMs: 500,
      targetFileBytes: world.pick([1000, 20_000]),
      paused: !converting,
    },
  }
}
