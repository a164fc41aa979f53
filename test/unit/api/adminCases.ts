import { other as ask, type KafkaCase } from './kafkaCases.ts'

const made = (name: string, numPartitions: number): object => ({ name, numPartitions, replicationFactor: 1, assignments: [], configs: [] })

const raised = (name: string, count: number, brokers: readonly (readonly number[])[] | null = null): object => ({
  name,
  count,
  assignments: brokers === null ? null : brokers.map((brokerIds) => ({ brokerIds })),
})
const raise = (name: string, topics: object[], more: { version?: number; validateOnly?: boolean; differs?: string } = {}): KafkaCase => ({
  ...ask(`CreatePartitions: ${name}`, 37, more.version ?? 3, { topics, timeoutMs: 5000, validateOnly: more.validateOnly ?? false }),
  differs: more.differs,
})
const createPartitions: KafkaCase[] = [
  raise('names twice, unknown, impossible', [raised('t', 3), raised('t', 4), raised('nowhere', 3), raised('a b', 2), raised('u', 0)]),
  raise('as many as there are', [raised('t', 2)]),
  raise('fewer', [raised('t', 1), raised('u', -1)]),
  raise('too many', [raised('t', 20_002)], { validateOnly: true }),
  raise('just enough', [raised('t', 10_002)], { validateOnly: true }),
  raise('one more than that', [raised('t', 10_003)], { validateOnly: true }),
  raise('no assignments for a new one', [raised('t', 3, [])]),
  raise('too few assignments', [raised('t', 4, [[0]])]),
  raise('an assignment without replicas', [raised('t', 3, [[]])]),
  raise('an assignment with a broker twice', [raised('t', 3, [[0, 0]])]),
  raise('an assignment to a broker that is not there', [raised('t', 3, [[7]])], {
    validateOnly: true,
    differs: 'any pod serves any partition',
  }),
  raise('validated only', [raised('t', 3, [[0]])], { validateOnly: true }),
  raise('two topics, the oldest version', [raised('t', 3, [[0]]), raised('u', 2)], { version: 0 }),
  raise('again', [raised('t', 3)], { version: 1 }),
  raise('nothing', []),
  ask('Metadata: after CreatePartitions', 3, 12, { topics: [{ name: 't' }, { name: 'u' }] }),
]

type Values = Readonly<Record<string, string | null>>
const resource = (resourceType: number, resourceName: string, configs: Values): object => ({
  resourceType,
  resourceName,
  configs: Object.entries(configs).map(([name, value]) => ({ name, value })),
})
const replace = (
  name: string,
  resources: object[],
  more: { version?: number; validateOnly?: boolean; differs?: string } = {},
): KafkaCase => ({
  ...ask(`AlterConfigs: ${name}`, 33, more.version ?? 2, { resources, validateOnly: more.validateOnly ?? false }),
  differs: more.differs,
})
const ownConfigs = (name: string): KafkaCase =>
  ask(`DescribeConfigs: ${name}`, 32, 4, {
    resources: [{ resourceType: 2, resourceName: 't', configurationKeys: ['retention.ms', 'retention.bytes', 'cleanup.policy'] }],
    includeSynonyms: false,
  })
const alterConfigs: KafkaCase[] = [
  replace('two keys of a topic', [resource(2, 't', { 'retention.ms': '7', 'cleanup.policy': 'compact' })]),
  ownConfigs('two keys were set'),
  replace('another key, the oldest version', [resource(2, 't', { 'retention.bytes': '9' })], { version: 0 }),
  ownConfigs('the others went back to their defaults'),
  replace('no value', [resource(2, 't', { 'retention.ms': null })]),
  replace('a bad value', [resource(2, 't', { 'retention.ms': 'x' })]),
  replace('an unknown key', [resource(2, 't', { 'no.such': 'x' })]),
  replace('an unknown topic, one that cannot be', [
    resource(2, 'nowhere', { 'retention.ms': '1' }),
    resource(2, 'a b', { 'retention.ms': '1' }),
  ]),
  replace('a key twice', [
    {
      resourceType: 2,
      resourceName: 't',
      configs: [
        { name: 'retention.ms', value: '1' },
        { name: 'retention.ms', value: '2' },
      ],
    },
  ]),
  replace('validated only', [resource(2, 't', { 'retention.ms': '1' })], { validateOnly: true }),
  ownConfigs('nothing changed by validation'),
  replace('a key of a node that is fixed at start', [resource(4, '0', { 'num.partitions': '3' })]),
  replace('a node that is not there, or none', [
    resource(4, '77', { 'log.retention.ms': '100000' }),
    resource(4, 'x', { 'log.retention.ms': '100000' }),
  ]),
  replace('a node', [resource(4, '0', { 'log.retention.ms': '100000' })]),
  replace('a node, back', [resource(4, '0', {})]),
  replace('loggers, and a kind that is none', [resource(8, '0', { root: 'INFO' }), resource(99, 'g', { x: '1' })]),
  replace('none: all defaults', [resource(2, 't', {})], { version: 1 }),
  ownConfigs('defaults'),
]

const describe = (name: string, topics: readonly string[], more: object = {}): KafkaCase =>
  ask(`DescribeTopicPartitions: ${name}`, 75, 0, { topics: topics.map((each) => ({ name: each })), ...more })
const from = (topicName: string, partitionIndex: number): object => ({ cursor: { topicName, partitionIndex } })
const describeTopicPartitions: KafkaCase[] = [
  describe('all', []),
  describe('some, unknown, impossible, twice', ['u', 't', 'nowhere', 'a b', 't']),
  describe('one partition', ['t', 'u'], { responsePartitionLimit: 1 }),
  describe('as many as the first has', ['t', 'u'], { responsePartitionLimit: 3 }),
  describe('no partition', ['t'], { responsePartitionLimit: 0 }),
  describe('from a cursor', ['t', 'u'], from('t', 1)),
  describe('from past the end', ['t', 'u'], from('t', 99)),
  describe('from a negative partition', ['t'], from('t', -1)),
  describe('from a topic that is not asked for', ['t', 'u'], from('tt', 0)),
  describe('all, from a topic that is not there', [], from('b', 1)),
  describe('an unknown one on the next page', ['t', 'zz'], { responsePartitionLimit: 3 }),
]

const list = (name: string, version: number, resourceTypes?: number[], differs?: string): KafkaCase => ({
  ...ask(`ListConfigResources: ${name}`, 74, version, resourceTypes === undefined ? {} : { resourceTypes }),
  differs,
})
const listConfigResources: KafkaCase[] = [
  list('client metrics', 0),
  list('all', 1, [], 'there are no loggers'),
  ...[2, 4, 16, 32, 99].map((kind) => list(`of kind ${kind}`, 1, [kind])),
  list('a kind twice', 1, [2, 2]),
  list('an unknown kind among others', 1, [2, 99]),
]

const dirs = (name: string, version: number, topics: object[] | null, differs?: string): KafkaCase => ({
  ...ask(`DescribeLogDirs: ${name}`, 35, version, { topics }),
  differs,
})
const describeLogDirs: KafkaCase[] = [
  dirs('all', 5, null),
  dirs('one partition, others that are not there', 4, [
    { topic: 't', partitions: [0, 9] },
    { topic: 'nowhere', partitions: [0] },
  ]),
  dirs('nothing', 1, []),
  dirs('nothing, with the volume', 4, []),
]

const elect = (name: string, version: number, topicPartitions: object[] | null, electionType?: number): KafkaCase =>
  ask(`ElectLeaders: ${name}`, 43, version, { topicPartitions, timeoutMs: 5000, ...(electionType === undefined ? {} : { electionType }) })
const electLeaders: KafkaCase[] = [
  elect('preferred, unknown', 2, [
    { topic: 't', partitions: [0, 9] },
    { topic: 'nowhere', partitions: [0] },
  ]),
  elect('unclean', 2, [{ topic: 't', partitions: [0] }], 1),
  elect('another kind', 2, [{ topic: 't', partitions: [0] }], 7),
  elect('all', 2, null),
  elect('all, unclean', 1, null, 1),
  elect('a partition twice, the oldest version', 0, [{ topic: 't', partitions: [0, 0] }]),
  elect('none', 2, []),
]

const quorum = (name: string, version: number, ...places: [string, number][]): KafkaCase =>
  ask(`DescribeQuorum: ${name}`, 55, version, {
    topics: places.map(([topicName, partitionIndex]) => ({ topicName, partitions: [{ partitionIndex }] })),
  })
const describeQuorum: KafkaCase[] = [
  quorum('another topic', 2, ['t', 0]),
  quorum('another partition', 1, ['__cluster_metadata', 1]),
  quorum('nothing', 0),
  quorum('the log and another topic', 2, ['__cluster_metadata', 0], ['t', 0]),
]

const update = (name: string, version: number, updates: object[], more: object = {}, differs?: string): KafkaCase => ({
  ...ask(`UpdateFeatures: ${name}`, 57, version, { timeoutMs: 5000, featureUpdates: updates, ...more }),
  differs,
})
const feature = (name: string, maxVersionLevel: number, more: object = {}): object => ({ feature: name, maxVersionLevel, ...more })
const updateFeatures: KafkaCase[] = [
  ...[1, 2].flatMap((version) => [
    update(`as it is, v${version}`, version, [feature('transaction.version', 2)]),
    update(`lower without saying so, v${version}`, version, [feature('transaction.version', 1)]),
    update(`higher than there is, v${version}`, version, [feature('transaction.version', 9)]),
    update(`negative, v${version}`, version, [feature('transaction.version', -1)]),
    update(`unknown, v${version}`, version, [feature('nothing', 1)]),
    update(`one good and one bad, v${version}`, version, [feature('transaction.version', 2), feature('nothing', 2)]),
    update(`nothing, v${version}`, version, []),
  ]),
  update('an unknown one to 0', 1, [feature('nothing', 0, { upgradeType: 2 })]),
  update('an unknown kind', 1, [feature('transaction.version', 1, { upgradeType: 7 })]),
  update('as it is, by a downgrade', 1, [feature('transaction.version', 2, { upgradeType: 2 })]),
  update('metadata.version lower, safe', 1, [feature('metadata.version', 20, { upgradeType: 2 })], { validateOnly: true }),
  update('metadata.version lower, unsafe', 1, [feature('metadata.version', 20, { upgradeType: 3 })], { validateOnly: true }),
  update(
    'transaction.version lower, safe',
    1,
    [feature('transaction.version', 1, { upgradeType: 2 })],
    { validateOnly: true },
    'features follow from what all pods know',
  ),
  update('lower, the oldest version', 0, [feature('transaction.version', 1, { allowDowngrade: false })]),
]

const move = (name: string, version: number, topics: object[], more: object = {}): KafkaCase =>
  ask(`AlterPartitionReassignments: ${name}`, 45, version, { timeoutMs: 5000, topics, ...more })
const to = (partitionIndex: number, replicas: number[] | null): object => ({ partitionIndex, replicas })
const reassignments: KafkaCase[] = [
  move('to where it is', 0, [{ name: 't', partitions: [to(0, [0]), to(0, [0])] }]),
  move('cancelled', 1, [
    { name: 't', partitions: [to(0, null), to(9, null)] },
    { name: 'nowhere', partitions: [to(0, null)] },
  ]),
  move('to what cannot be', 1, [
    { name: 't', partitions: [to(0, [7]), to(1, []), to(2, [0, 0]), to(9, [0])] },
    { name: 'nowhere', partitions: [to(0, [0])] },
  ]),
  move('to more that are not there', 1, [{ name: 't', partitions: [to(0, [0, 1])] }], { allowReplicationFactorChange: false }),
  move('nothing', 1, []),
  ask('ListPartitionReassignments: all', 46, 0, { timeoutMs: 5000, topics: null }),
  ask('ListPartitionReassignments: some', 46, 0, { timeoutMs: 5000, topics: [{ name: 'nowhere', partitionIndexes: [0] }] }),
]

const quotas = (name: string, ...components: [string, number, string | null][]): KafkaCase =>
  ask(`DescribeClientQuotas: ${name}`, 48, 1, {
    components: components.map(([entityType, matchType, match]) => ({ entityType, matchType, match })),
    strict: false,
  })
const describeClientQuotas: KafkaCase[] = [
  quotas('all'),
  quotas('of a user', ['user', 0, 'alice']),
  quotas('of an unknown kind', ['foo', 0, 'alice']),
  quotas('of no kind', ['', 0, 'alice']),
  quotas('exactly nothing', ['user', 0, null]),
  quotas('a default with a name', ['user', 1, 'x']),
  quotas('any with a name', ['user', 2, 'x']),
  quotas('an unknown match', ['user', 7, null]),
  quotas('a kind twice', ['user', 2, null], ['user', 2, null]),
  quotas('users and addresses', ['user', 2, null], ['ip', 2, null]),
]

const deleteOffsets = (name: string, groupId: string, ...topics: [string, number[]][]): KafkaCase =>
  ask(`OffsetDelete: ${name}`, 47, 0, {
    groupId,
    topics: topics.map(([topic, partitions]) => ({ name: topic, partitions: partitions.map((partitionIndex) => ({ partitionIndex })) })),
  })
const commit = (groupId: string, name: string): KafkaCase =>
  ask(`OffsetCommit: ${groupId}, ${name}`, 8, 2, {
    groupId,
    generationIdOrMemberEpoch: -1,
    memberId: '',
    topics: [{ name, partitions: [0, 1].map((partitionIndex) => ({ partitionIndex, committedOffset: 5, committedMetadata: null })) }],
  })
const left = (groupId: string, name: string): KafkaCase =>
  ask(`OffsetFetch: ${groupId}, ${name}`, 9, 7, { groupId, topics: null, requireStable: false })
/** Version 0, the topic u, no user data. */
const SUBSCRIPTION = Buffer.from('00000000000100017500000000', 'hex')
const join = (groupId: string, protocolType: string): KafkaCase =>
  ask(`JoinGroup: ${groupId}`, 11, 3, {
    groupId,
    sessionTimeoutMs: 30_000,
    rebalanceTimeoutMs: 30_000,
    memberId: '',
    protocolType,
    protocols: [{ name: 'range', metadata: SUBSCRIPTION }],
  })
const sync = (groupId: string): KafkaCase => ({
  name: `SyncGroup: ${groupId}`,
  key: 14,
  version: 2,
  request: (ids) => ({
    groupId,
    generationId: 1,
    memberId: ids.get('member')!,
    assignments: [{ memberId: ids.get('member')!, assignment: Buffer.alloc(0) }],
  }),
})
const offsetDelete: KafkaCase[] = [
  ask('FindCoordinator: of a group', 10, 3, { key: 'none', keyType: 0 }),
  deleteOffsets('an unknown group', 'none', ['t', [0]]),
  deleteOffsets('an unknown group, unknown topics', 'none', ['nowhere', [0]]),
  deleteOffsets('an unknown group, nothing', 'none'),
  commit('simple', 't'),
  commit('simple', 'u'),
  deleteOffsets('of a simple group', 'simple', ['t', [0, 9]], ['nowhere', [0]]),
  left('simple', 'after it'),
  deleteOffsets('again', 'simple', ['t', [0]]),
  join('consumers', 'consumer'),
  deleteOffsets('while the assignment is awaited', 'consumers', ['t', [0]], ['u', [0]]),
  sync('consumers'),
  deleteOffsets('of members', 'consumers', ['t', [0]], ['u', [0]]),
  join('workers', 'connect'),
  sync('workers'),
  deleteOffsets('of members that are no consumers', 'workers', ['t', [0]]),
]

/** As KAFKA_CASES, on a fresh broker of their own (test/fixtures/api/kafka-admin-answers.json). */
export const ADMIN_CASES: readonly KafkaCase[] = [
  { ...ask('CreateTopics: a', 19, 7, { topics: [made('a', 4)], timeoutMs: 5000 }), differs: 'the test begins with it' },
  ask('CreateTopics: t, u', 19, 7, { topics: [made('t', 2), made('u', 1)], timeoutMs: 5000 }),
  ...createPartitions,
  ...alterConfigs,
  ...describeTopicPartitions,
  ...listConfigResources,
  ...describeLogDirs,
  ...electLeaders,
  ...describeQuorum,
  ...updateFeatures,
  ...reassignments,
  ...describeClientQuotas,
  ...offsetDelete,
]
