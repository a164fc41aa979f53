import { Errors, type RequestOf } from '../../../protocol/index.ts'
import type { ConfigError } from './topicConfigs.ts'

type Topic = RequestOf<19>['topics'][number]

/** What is wrong with the shape of a manual assignment, in Kafka's words (K: ReplicationControlManager), or null. */
export function assignmentProblem(topic: Topic): ConfigError | null {
  const { assignments } = topic
  const wrong = (message: string): ConfigError => ({ error: Errors.INVALID_REPLICA_ASSIGNMENT, message })
  const unset = (what: string): ConfigError => ({
    error: Errors.INVALID_REQUEST,
    message: `A manual partition assignment was specified, but ${what} was not set to -1.`,
  })
  if (topic.replicationFactor !== -1) return unset('replication factor')
  if (topic.numPartitions !== -1) return unset('numPartitions')
  const seen = new Set<number>()
  const replicas = assignments[0].brokerIds.length
  for (const { partitionIndex, brokerIds } of assignments) {
    if (seen.has(partitionIndex)) return wrong(`Found multiple manual partition assignments for partition ${partitionIndex}`)
    seen.add(partitionIndex)
    const message = replicasProblem(brokerIds, replicas)
    if (message !== null) return wrong(message)
  }
  for (let partition = 0; partition < assignments.length; partition++) {
    if (!seen.has(partition)) return wrong('partitions should be a consecutive 0-based integer sequence')
  }
  return null
}

/** What is wrong with the replicas of one partition beside others that have `replicas` of them, or null. */
export function replicasProblem(brokerIds: readonly number[], replicas: number): string | null {
  if (brokerIds.length === 0) return 'The manual partition assignment includes an empty replica list.'
  const seen = new Set<number>()
  const repeated = brokerIds.find((id) => seen.size === seen.add(id).size)
  if (repeated !== undefined) return `The manual partition assignment includes the broker ${repeated} more than once.`
  if (brokerIds.length === replicas) return null
  return `The manual partition assignment includes a partition with ${brokerIds.length} replica(s), but this is not consistent with previous partitions, which have ${replicas} replica(s).`
}
