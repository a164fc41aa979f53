import type { ApiKey } from '../../../protocol/index.ts'

/** What of an answer is not compared as it stands. Paths are dotted, `*` stands for the elements of an array. */
export interface Mask {
  /** Not compared at all: times, ports, measures of this machine. */
  readonly ignored?: readonly string[]
  /** Sentences: only whether there is one. */
  readonly texts?: readonly string[]
  /** Ids that the broker chose, with their kind: compared by the order in which they come up. */
  readonly ids?: Readonly<Record<string, string>>
  /** Arrays whose order means nothing. */
  readonly unordered?: readonly string[]
  /** Elements of arrays that are left out on both sides. */
  readonly left?: Readonly<Record<string, (element: never) => boolean>>
}

/** Ends of paths that are masked in every API. */
export const EVERYWHERE = {
  ignored: ['throttleTimeMs', 'clusterId', '.host', '.port'],
  texts: ['errorMessage', 'batchIndexErrorMessage'],
}

export const MASKS: { readonly [K in ApiKey]?: Mask } = {
  0: {
    ids: { 'responses.*.topicId': 'topic', 'responses.*.partitionResponses.*.currentLeader.leaderId': 'node' },
    ignored: ['responses.*.partitionResponses.*.logAppendTimeMs'],
    unordered: ['responses', 'responses.*.partitionResponses'],
  },
  1: {
    ids: {
      'responses.*.topicId': 'topic',
      sessionId: 'session',
      'nodeEndpoints.*.nodeId': 'node',
      'responses.*.partitions.*.currentLeader.leaderId': 'node',
    },
  },
  2: { unordered: ['topics', 'topics.*.partitions'] },
  3: {
    ids: {
      'brokers.*.nodeId': 'node',
      controllerId: 'node',
      'topics.*.topicId': 'topic',
      'topics.*.partitions.*.leaderId': 'node',
      'topics.*.partitions.*.replicaNodes.*': 'node',
      'topics.*.partitions.*.isrNodes.*': 'node',
    },
    unordered: ['topics', 'topics.*.partitions'],
    left: { topics: (topic: { name: string }) => topic.name?.startsWith('__') === true },
  },
  10: { ids: { nodeId: 'node', 'coordinators.*.nodeId': 'node' } },
  11: { ids: { memberId: 'member', leader: 'member', 'members.*.memberId': 'member' }, unordered: ['members'] },
  13: { ids: { 'members.*.memberId': 'member' } },
  15: { ids: { 'groups.*.members.*.memberId': 'member' }, ignored: ['groups.*.members.*.clientHost'], unordered: ['groups.*.members'] },
  16: { unordered: ['groups'] },
  18: { unordered: ['apiKeys', 'supportedFeatures', 'finalizedFeatures'], ignored: ['finalizedFeaturesEpoch'] },
  19: { ids: { 'topics.*.topicId': 'topic' }, unordered: ['topics', 'topics.*.configs'] },
  20: { ids: { 'responses.*.topicId': 'topic' }, unordered: ['responses'] },
  21: { unordered: ['topics', 'topics.*.partitions'] },
  22: { ids: { producerId: 'producer' } },
  26: { ids: { producerId: 'producer' } },
  32: { unordered: ['results', 'results.*.configs'], texts: ['results.*.configs.*.documentation'] },
  35: { ignored: ['results.*.logDir', 'results.*.totalBytes', 'results.*.usableBytes', 'results.*.topics.*.partitions.*.partitionSize'] },
  55: { ids: {} },
  60: { ids: { 'brokers.*.brokerId': 'node', controllerId: 'node' } },
  61: {
    ids: { 'topics.*.partitions.*.activeProducers.*.producerId': 'producer' },
    ignored: ['topics.*.partitions.*.activeProducers.*.lastTimestamp'],
  },
  65: { ids: { 'transactionStates.*.producerId': 'producer' }, ignored: ['transactionStates.*.transactionStartTimeMs'] },
  66: { ids: { 'transactionStates.*.producerId': 'producer' }, unordered: ['transactionStates'] },
  69: { ids: { 'groups.*.members.*.memberId': 'member' }, ignored: ['groups.*.members.*.clientHost'], unordered: ['groups.*.members'] },
  75: {
    ids: {
      'topics.*.topicId': 'topic',
      'topics.*.partitions.*.leaderId': 'node',
      'topics.*.partitions.*.replicaNodes.*': 'node',
      'topics.*.partitions.*.isrNodes.*': 'node',
    },
  },
}
