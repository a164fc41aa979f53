import type { ApiKey } from '../../../protocol/index.ts'
import { batchBytes } from '../wal/harness.ts'

/**
 * Requests whose answers were recorded from Apache Kafka 4.4.0 (test/fixtures/api/kafka-answers.json), in this order, on a fresh
 * broker with node id 0. `ids` are topic ids by name, as CreateTopics answered them, and 'member' is the last member's. Where Frazil differs on purpose, `differs`
 * says why, and the case has no recorded answer to meet.
 */
export interface KafkaCase {
  readonly name: string
  readonly key: ApiKey
  readonly version: number
  readonly request: (ids: ReadonlyMap<string, string>) => object
  readonly differs?: string
}

const ZERO = '00000000-0000-0000-0000-000000000000'
const UNKNOWN_ID = '11111111-2222-4333-8444-555555555555'

const topic = (name: string, more: object = {}): object => ({
  name,
  numPartitions: 1,
  replicationFactor: 1,
  assignments: [],
  configs: [],
  ...more,
})
const create = (name: string, topics: object[], more: { version?: number; validateOnly?: boolean; differs?: string } = {}): KafkaCase => ({
  name: `CreateTopics: ${name}`,
  key: 19,
  version: more.version ?? 7,
  request: () => ({ topics, timeoutMs: 30_000, validateOnly: more.validateOnly ?? false }),
  differs: more.differs,
})
const assignment = (...partitions: [number, number[]][]): object => ({
  numPartitions: -1,
  replicationFactor: -1,
  assignments: partitions.map(([partitionIndex, brokerIds]) => ({ partitionIndex, brokerIds })),
})

const createCases: KafkaCase[] = [
  create('two topics', [
    topic('t', { numPartitions: 3, configs: [{ name: 'retention.ms', value: '-1' }] }),
    topic('u', { configs: [{ name: 'delete.retention.ms', value: '1000' }] }),
  ]),
  create('exists', [topic('t')]),
  create('names that cannot be', [topic(''), topic('.'), topic('..'), topic('a b'), topic('ä'), topic('x'.repeat(250))]),
  create('a name of 249 characters', [topic('x'.repeat(249))], { validateOnly: true }),
  create('a name given twice', [topic('twice'), topic('twice'), topic('once')]),
  create('no partitions', [topic('p0', { numPartitions: 0 }), topic('p-2', { numPartitions: -2 })]),
  create('no replicas', [topic('r0', { replicationFactor: 0 }), topic('r-2', { replicationFactor: -2 })]),
  create('assignments in order', [topic('m1', assignment([0, [0]], [1, [0]]))]),
  create('assignments with a hole', [topic('m2', assignment([0, [0]], [2, [0]]))]),
  create('assignments with a partition twice', [topic('m3', assignment([0, [0]], [0, [0]]))]),
  create('assignments without replicas', [topic('m4', assignment([0, []]))]),
  create('assignments with a broker twice', [topic('m5', assignment([0, [0, 0]]))]),
  create('assignments beside a count', [topic('m6', { ...assignment([0, [0]]), numPartitions: 1 })]),
  create('assignments beside a factor', [topic('m7', { ...assignment([0, [0]]), replicationFactor: 1 })]),
  create('an unknown config', [topic('c1', { configs: [{ name: 'nothing.of.this', value: '1' }] })]),
  create('a bad config', [topic('c2', { configs: [{ name: 'retention.ms', value: 'x' }] })]),
  create('a null config', [topic('c3', { configs: [{ name: 'retention.ms', value: null }] })]),
  create('a policy that does not exist', [topic('c4', { configs: [{ name: 'cleanup.policy', value: 'burn' }] })]),
  create('a dotted name', [topic('d.o.t')]),
  create('a name that collides', [topic('d_o.t')]),
  create('two that collide with each other', [topic('e.e'), topic('e_e')], {
    differs: 'Kafka makes both, which it forbids one after the other',
  }),
  create('validated only', [topic('v1'), topic('t')], { validateOnly: true }),
  create('three replicas', [topic('r3', { replicationFactor: 3 })], {
    differs: 'any factor is accepted, as the object store keeps the copies',
  }),
  create('the oldest version', [topic('old')], { version: 2 }),
  create('the oldest version, refused', [topic('old'), topic('a b')], { version: 2 }),
]

const metadata = (name: string, version: number, request: object): KafkaCase => ({
  name: `Metadata: ${name}`,
  key: 3,
  version,
  request: () => request,
})
const metadataCases: KafkaCase[] = [
  metadata('one topic', 12, { topics: [{ name: 't' }] }),
  metadata('none', 12, { topics: [] }),
  metadata('unknown, not to be made', 12, { topics: [{ name: 'nowhere' }], allowAutoTopicCreation: false }),
  metadata('a bad name, to be made', 12, { topics: [{ name: 'a b' }], allowAutoTopicCreation: true }),
  metadata('a bad name, not to be made', 12, { topics: [{ name: 'a b' }], allowAutoTopicCreation: false }),
  metadata('an unknown id', 12, { topics: [{ name: null, topicId: UNKNOWN_ID }] }),
  { name: 'Metadata: by id', key: 3, version: 13, request: (ids) => ({ topics: [{ name: null, topicId: ids.get('t') }] }) },
  { name: 'Metadata: by id before v12', key: 3, version: 11, request: (ids) => ({ topics: [{ name: null, topicId: ids.get('t') }] }) },
  metadata('operations', 8, { topics: [{ name: 'u' }], includeTopicAuthorizedOperations: true, includeClusterAuthorizedOperations: true }),
  metadata('a topic twice', 9, { topics: [{ name: 'u' }, { name: 'u' }] }),
]

const produce = (name: string, version: number, partitions: object[], more: object = {}, named: object = { name: 't' }): KafkaCase => ({
  name: `Produce: ${name}`,
  key: 0,
  version,
  request: () => ({ acks: -1, timeoutMs: 30_000, topicData: [{ ...named, partitionData: partitions }], ...more }),
})
/** Timestamps of test batches are near 1970, which a topic's default allows. */
const records = (): Uint8Array => batchBytes({ count: 2 })
const produceCases: KafkaCase[] = [
  produce('one batch', 9, [{ index: 0, records: records() }]),
  produce('acks 1', 3, [{ index: 0, records: records() }], { acks: 1 }),
  produce('acks 2', 9, [{ index: 0, records: records() }], { acks: 2 }),
  produce('an unknown partition beside a good one', 9, [
    { index: 7, records: records() },
    { index: 1, records: records() },
  ]),
  produce('an unknown topic', 9, [{ index: 0, records: records() }], {}, { name: 'nowhere' }),
  produce('an unknown id', 13, [{ index: 0, records: records() }], {}, { topicId: UNKNOWN_ID }),
  produce('a producer that nobody knows, not at its first sequence', 9, [
    { index: 2, records: batchBytes({ producerId: 9999, epoch: 0, sequence: 5 }) },
  ]),
  {
    ...produce('the same batch again', 9, [{ index: 2, records: batchBytes({ producerId: 9999, epoch: 0, sequence: 5 }) }]),
    differs: 'Kafka tells the time of the last record as the append time, which a topic of create times does not have',
  },
  produce('a gap in the sequence', 9, [{ index: 2, records: batchBytes({ producerId: 9999, epoch: 0, sequence: 9 }) }]),
]

const fetchCase = (name: string, version: number, partition: object, more: object = {}, named: object = { topic: 't' }): KafkaCase => ({
  name: `Fetch: ${name}`,
  key: 1,
  version,
  request: () => {
    const asked = { partition: 0, fetchOffset: 0, partitionMaxBytes: 1 << 20, ...partition }
    return { maxWaitMs: 100, minBytes: 1, maxBytes: 1 << 20, topics: [{ ...named, partitions: [asked] }], sessionId: 0, ...more }
  },
})
const fetchCases: KafkaCase[] = [
  fetchCase('from the start', 12, {}, { sessionEpoch: -1 }),
  fetchCase('read committed', 12, {}, { sessionEpoch: -1, isolationLevel: 1 }),
  fetchCase('inside the log', 11, { fetchOffset: 3 }, { sessionEpoch: -1 }),
  fetchCase('one byte still gives a batch (KIP-74)', 12, { partitionMaxBytes: 1 }, { sessionEpoch: -1, maxBytes: 1 }),
  fetchCase('at the end', 12, { fetchOffset: 4 }, { sessionEpoch: -1, isolationLevel: 1 }),
  fetchCase('past the end', 12, { fetchOffset: 5 }, { sessionEpoch: -1 }),
  fetchCase('before the start', 12, { fetchOffset: -1 }, { sessionEpoch: -1 }),
  fetchCase('an unknown partition', 12, { partition: 9 }, { sessionEpoch: -1 }),
  fetchCase('an unknown topic', 12, {}, { sessionEpoch: -1 }, { topic: 'nowhere' }),
  fetchCase('an unknown id', 13, {}, { sessionEpoch: -1 }, { topicId: UNKNOWN_ID }),
  fetchCase('an epoch to come', 12, { currentLeaderEpoch: 5 }, { sessionEpoch: -1 }),
  fetchCase('a last epoch to come', 12, { lastFetchedEpoch: 5 }, { sessionEpoch: -1 }),
  fetchCase('a session that does not exist', 12, {}, { sessionId: 77, sessionEpoch: 3 }),
  fetchCase('the end of a session that does not exist', 12, {}, { sessionId: 77, sessionEpoch: -1 }),
  fetchCase('the oldest version', 4, { fetchOffset: 5 }, {}),
]

const list = (name: string, version: number, partitions: object[], named = 't'): KafkaCase => ({
  name: `ListOffsets: ${name}`,
  key: 2,
  version,
  request: () => ({ replicaId: -1, topics: [{ name: named, partitions }] }),
})
const at = (timestamp: number, more: object = {}): object => ({ partitionIndex: 0, timestamp, ...more })
const listCases: KafkaCase[] = [
  ...[-1, -2, -3, -4, -5, -7].map((timestamp) => list(`${timestamp} in v10`, 10, [at(timestamp)])),
  list('-6 in v10', 10, [at(-6)]),
  list('-3 in v6', 6, [at(-3)]),
  list('-4 in v7', 7, [at(-4)]),
  list('-5 in v8', 8, [at(-5)]),
  list('-3 of an empty partition', 10, [at(-3, { partitionIndex: 1 })].slice(0, 0).concat([at(-3)]), 'u'),
  list('a time before all', 5, [at(0)]),
  list('a time in the middle', 5, [at(1001)]),
  list('a time after all', 5, [at(5000)]),
  list('a partition twice', 5, [at(-1), at(-2)]),
  list('an unknown partition', 5, [at(-1, { partitionIndex: 9 })]),
  list('an unknown topic', 5, [at(-1)], 'nowhere'),
  list('an epoch to come', 5, [at(-1, { currentLeaderEpoch: 3 })]),
  list('the oldest version', 1, [at(-1)]),
]

const epochOf = (name: string, partition: object, named = 't'): KafkaCase => ({
  name: `OffsetForLeaderEpoch: ${name}`,
  key: 23,
  version: 4,
  request: () => ({ replicaId: -1, topics: [{ topic: named, partitions: [{ partition: 0, currentLeaderEpoch: -1, ...partition }] }] }),
})
const epochCases: KafkaCase[] = [
  epochOf('the current one', { leaderEpoch: 0 }),
  epochOf('one to come', { leaderEpoch: 5 }),
  epochOf('none', { leaderEpoch: -1 }),
  epochOf('fenced', { leaderEpoch: 0, currentLeaderEpoch: 5 }),
  epochOf('an unknown partition', { partition: 9, leaderEpoch: 0 }),
  epochOf('an unknown topic', { leaderEpoch: 0 }, 'nowhere'),
]

const describeConfigs = (
  name: string,
  resourceType: number,
  resourceName: string,
  configurationKeys: string[] | null = ['delete.retention.ms', 'cleanup.policy'],
): KafkaCase => ({
  name: `DescribeConfigs: ${name}`,
  key: 32,
  version: 4,
  request: () => ({ resources: [{ resourceType, resourceName, configurationKeys }], includeSynonyms: true, includeDocumentation: false }),
})
const configCases: KafkaCase[] = [
  describeConfigs('a topic', 2, 'u'),
  describeConfigs('an unknown topic', 2, 'nowhere'),
  describeConfigs('a bad topic name', 2, 'a b'),
  describeConfigs('this node', 4, '0', ['message.max.bytes', 'fetch.max.bytes', 'no.such']),
  describeConfigs('another node', 4, '99'),
  describeConfigs('a node that is no number', 4, 'x'),
  { ...describeConfigs('the cluster', 4, '', null), differs: 'Kafka sets min.insync.replicas for the cluster by itself (KIP-966)' },
  { ...describeConfigs('a group', 32, 'g', null), differs: 'keys of share and streams groups come with them' },
  { ...describeConfigs('loggers', 8, '0', ['root']), differs: 'loggers are no resource here' },
  describeConfigs('a type that is not', 1, 'x'),
  describeConfigs('another type that is not', 77, 'x'),
]

const alter = (name: string, resources: object[], validateOnly = false): KafkaCase => ({
  name: `IncrementalAlterConfigs: ${name}`,
  key: 44,
  version: 1,
  request: () => ({ resources, validateOnly }),
})
const resource = (resourceType: number, resourceName: string, ...configs: [string, number, string | null][]): object => ({
  resourceType,
  resourceName,
  configs: configs.map(([name, configOperation, value]) => ({ name, configOperation, value })),
})
const alterCases: KafkaCase[] = [
  alter('set, append and delete', [
    resource(2, 't', ['delete.retention.ms', 0, '5000'], ['cleanup.policy', 2, 'compact'], ['index.interval.bytes', 1, null]),
  ]),
  describeConfigs('what that came to', 2, 't', ['delete.retention.ms', 'cleanup.policy', 'index.interval.bytes']),
  alter('append again what is there', [resource(2, 't', ['cleanup.policy', 2, 'compact'])]),
  alter('subtract', [resource(2, 't', ['cleanup.policy', 3, 'compact'])]),
  describeConfigs('what is left', 2, 't', ['cleanup.policy']),
  alter('append to a number', [resource(2, 't', ['delete.retention.ms', 2, '1'])]),
  alter('an unknown key', [resource(2, 't', ['no.such', 0, '1'])]),
  alter('an unknown key, deleted', [resource(2, 't', ['no.such', 1, null])]),
  alter('a bad value', [resource(2, 't', ['delete.retention.ms', 0, 'x'])]),
  alter('no value', [resource(2, 't', ['delete.retention.ms', 0, null])]),
  { ...alter('an unknown operation', [resource(2, 't', ['delete.retention.ms', 9, '1'])]), differs: 'Kafka fails unexpectedly' },
  alter('an unknown topic beside a good one', [
    resource(2, 'nowhere', ['delete.retention.ms', 0, '1']),
    resource(2, 'u', ['delete.retention.ms', 0, '2']),
  ]),
  alter('validated only', [resource(2, 'u', ['delete.retention.ms', 0, '3'])], true),
  describeConfigs('unchanged by that', 2, 'u', ['delete.retention.ms']),
  alter('this node', [resource(4, '0', ['message.max.bytes', 0, '2000000'])]),
  alter('the cluster', [resource(4, '', ['message.max.bytes', 0, '3000000'])]),
  describeConfigs('the sources of a topic’s value', 2, 'u', ['max.message.bytes']),
  alter('back', [resource(4, '0', ['message.max.bytes', 1, null]), resource(4, '', ['message.max.bytes', 1, null])]),
  alter('a key that cannot change', [resource(4, '0', ['broker.rack', 0, 'x'])]),
  alter('a node that never was', [resource(4, '99', ['message.max.bytes', 0, '2000000'])]),
  alter('a node that is no number', [resource(4, 'x', ['message.max.bytes', 0, '2000000'])]),
  alter('a type that is not', [resource(1, 'x', ['a', 0, 'b'])]),
]

const JOIN = {
  groupId: 'g',
  sessionTimeoutMs: 10_000,
  rebalanceTimeoutMs: 10_000,
  memberId: '',
  protocolType: 'consumer',
  protocols: [{ name: 'range', metadata: new Uint8Array(1) }],
}
const groupCase = (name: string, key: ApiKey, version: number, request: object): KafkaCase => ({
  name: `Groups: ${name}`,
  key,
  version,
  request: () => request,
})
const commit = (version: number, more: object = {}, partition: object = {}, named: object = { name: 't' }): [ApiKey, number, object] => {
  const partitions = [{ partitionIndex: 0, committedOffset: 3, committedMetadata: 'm', ...partition }]
  return [8, version, { groupId: 'simple', memberId: '', topics: [{ ...named, partitions }], ...more }]
}
const groupCases: KafkaCase[] = [
  groupCase('coordinator', 10, 6, { keyType: 0, coordinatorKeys: ['g', ''] }),
  groupCase('join without a group id', 11, 9, { ...JOIN, groupId: '' }),
  groupCase('join with an unknown id', 11, 9, { ...JOIN, memberId: 'x' }),
  groupCase('join with a short session', 11, 9, { ...JOIN, sessionTimeoutMs: 1 }),
  groupCase('join without protocols', 11, 9, { ...JOIN, protocols: [] }),
  groupCase('join without a protocol type', 11, 9, { ...JOIN, protocolType: '' }),
  groupCase('join without an id', 11, 9, JOIN),
  groupCase('sync of an unknown group', 14, 5, { groupId: 'none', generationId: 1, memberId: 'x', assignments: [] }),
  groupCase('sync without a group id', 14, 5, { groupId: '', generationId: 1, memberId: 'x', assignments: [] }),
  groupCase('beat of an unknown group', 12, 4, { groupId: 'none', generationId: 1, memberId: 'x' }),
  groupCase('beat without a group id', 12, 4, { groupId: '', generationId: 1, memberId: 'x' }),
  groupCase('leave of an unknown group', 13, 5, { groupId: 'none', members: [{ memberId: 'x' }, { memberId: '', groupInstanceId: 'i' }] }),
  groupCase('leave of an unknown group, old', 13, 2, { groupId: 'none', memberId: 'x' }),
  groupCase('leave without a group id', 13, 5, { groupId: '', members: [{ memberId: 'x' }] }),
  groupCase('commit', ...commit(9)),
  groupCase('commit of an unknown group with a generation', ...commit(8, { groupId: 'none', generationIdOrMemberEpoch: 3, memberId: 'x' })),
  groupCase('the same in v9', ...commit(9, { groupId: 'none', generationIdOrMemberEpoch: 3, memberId: 'x' })),
  groupCase('commit with an id that the empty group does not know', ...commit(9, { generationIdOrMemberEpoch: 3, memberId: 'x' })),
  groupCase('commit without a group id', ...commit(9, { groupId: '' })),
  groupCase('commit with long metadata', ...commit(9, {}, { committedMetadata: 'x'.repeat(4097) })),
  groupCase('commit to an unknown topic', ...commit(9, {}, {}, { name: 'nowhere' })),
  groupCase('commit to an unknown id', ...commit(10, {}, {}, { topicId: UNKNOWN_ID })),
  groupCase('commit to an unknown partition', ...commit(9, {}, { partitionIndex: 9 })),
  groupCase('commit of null metadata', ...commit(9, {}, { partitionIndex: 1, committedMetadata: null })),
  groupCase('commit of a negative offset', ...commit(9, {}, { partitionIndex: 2, committedOffset: -1 })),
  groupCase('list', 16, 5, { statesFilter: [], typesFilter: [] }),
  groupCase('list, old', 16, 2, {}),
  groupCase('fetch all', 9, 9, { groups: [{ groupId: 'simple', topics: null }] }),
  groupCase('fetch some', 9, 7, {
    groupId: 'simple',
    topics: [
      { name: 't', partitionIndexes: [0, 2, 9] },
      { name: 'nowhere', partitionIndexes: [0] },
    ],
  }),
  groupCase('fetch of an unknown group', 9, 9, { groups: [{ groupId: 'none', topics: [{ name: 't', partitionIndexes: [0] }] }] }),
  groupCase('fetch all of an unknown group', 9, 9, { groups: [{ groupId: 'none', topics: null }] }),
  groupCase('fetch without a group id', 9, 9, { groups: [{ groupId: '', topics: [{ name: 't', partitionIndexes: [0] }] }] }),
  groupCase('fetch by an unknown id', 9, 10, { groups: [{ groupId: 'simple', topics: [{ topicId: UNKNOWN_ID, partitionIndexes: [0] }] }] }),
  groupCase('fetch, the oldest version', 9, 1, { groupId: 'simple', topics: [{ name: 't', partitionIndexes: [0, 2] }] }),
  groupCase('describe', 15, 6, { groups: ['simple', 'none'] }),
  groupCase('describe, old', 15, 5, { groups: ['simple', 'none'] }),
  groupCase('describe with operations', 15, 5, { groups: ['simple'], includeAuthorizedOperations: true }),
  groupCase('describe without a name', 15, 6, { groups: [''] }),
  groupCase('list by state', 16, 5, { statesFilter: ['Stable', 'Dead'], typesFilter: [] }),
  groupCase('list by another type', 16, 5, { statesFilter: [], typesFilter: ['share'] }),
  groupCase('delete', 42, 3, { groupsNames: ['none', 'simple', ''] }),
]

/** A member's life; `ids` has the member id under 'member' once a JoinGroup answered one. */
const step = (name: string, key: ApiKey, version: number, request: (member: string) => object): KafkaCase => {
  return { name: `A member: ${name}`, key, version, request: (ids) => request(ids.get('member') ?? '') }
}
const life = (groupId: string, generationId: number): Record<'beat' | 'sync', (member: string) => object> => ({
  beat: (memberId) => ({ groupId, generationId, memberId }),
  sync: (memberId) => {
    const assignments = [{ memberId, assignment: Buffer.from('parts') }]
    return { groupId, generationId, memberId, protocolType: 'consumer', protocolName: 'range', assignments }
  },
})
const joinAs = (memberId: string, more: object = {}): object => ({ ...JOIN, groupId: 'life', memberId, ...more })
const staticJoin = (memberId: string): object => joinAs(memberId, { groupId: 'static', groupInstanceId: 'i' })
const memberCases: KafkaCase[] = [
  step('is given an id', 11, 9, () => joinAs('')),
  step('joins', 11, 9, (member) => joinAs(member)),
  step('beats before it synced', 12, 4, life('life', 1).beat),
  step('is described while the group completes', 15, 5, () => ({ groups: ['life'] })),
  step('commits too early', 8, 9, (memberId) => commit(9, { groupId: 'life', generationIdOrMemberEpoch: 1, memberId })[2]),
  step('syncs in another generation', 14, 5, life('life', 7).sync),
  step('syncs with another protocol', 14, 5, (member) => ({ ...life('life', 1).sync(member), protocolName: 'sticky' })),
  step('syncs', 14, 5, life('life', 1).sync),
  step('syncs again', 14, 5, life('life', 1).sync),
  step('beats', 12, 4, life('life', 1).beat),
  step('beats in another generation', 12, 4, life('life', 7).beat),
  step('beats under another id', 12, 4, () => life('life', 1).beat('x')),
  step('is described', 15, 5, () => ({ groups: ['life'] })),
  step('is listed', 16, 5, () => ({ statesFilter: ['Stable'], typesFilter: ['classic'] })),
  step('commits', 8, 9, (memberId) => commit(9, { groupId: 'life', generationIdOrMemberEpoch: 1, memberId })[2]),
  step('commits in another generation', 8, 9, (memberId) => commit(9, { groupId: 'life', generationIdOrMemberEpoch: 7, memberId })[2]),
  step('is not the one who commits', 8, 9, () => commit(9, { groupId: 'life' })[2]),
  step('cannot be joined with another protocol', 11, 9, () => joinAs('', { protocols: [{ name: 'other', metadata: new Uint8Array(1) }] })),
  step('cannot be joined with another type', 11, 9, () => joinAs('', { protocolType: 'connect' })),
  step('has a group that cannot be deleted', 42, 2, () => ({ groupsNames: ['life'] })),
  step('leads and joins again', 11, 9, (member) => joinAs(member)),
  step('syncs the second generation', 14, 5, life('life', 2).sync),
  step('leaves', 13, 5, (memberId) => ({ groupId: 'life', members: [{ memberId }, { memberId: 'x' }] })),
  step('is gone', 12, 4, life('life', 2).beat),
  step('left an empty group', 15, 5, () => ({ groups: ['life'] })),
  step('left offsets', 9, 7, () => ({ groupId: 'life', topics: null })),
  step('joins statically', 11, 9, () => staticJoin('')),
  step('syncs statically', 14, 5, (member) => ({ ...life('static', 1).sync(member), groupInstanceId: 'i' })),
  step('is bounced and joins statically again', 11, 9, () => staticJoin('')),
  step('beats statically', 12, 4, (member) => ({ ...life('static', 1).beat(member), groupInstanceId: 'i' })),
  step('is fenced under another id', 12, 4, () => ({ ...life('static', 1).beat('x'), groupInstanceId: 'i' })),
  step('beats with an instance that is not there', 12, 4, (member) => ({ ...life('static', 1).beat(member), groupInstanceId: 'j' })),
  step('is described statically', 15, 5, () => ({ groups: ['static'] })),
  step('is removed by its instance', 13, 5, () => ({ groupId: 'static', members: [{ memberId: '', groupInstanceId: 'i' }] })),
  step('left an empty static group', 15, 5, () => ({ groups: ['static'] })),
]

/** A request that needs no ids. */
export const other = (name: string, key: ApiKey, version: number, request: object, differs?: string): KafkaCase => ({
  name,
  key,
  version,
  request: () => request,
  differs,
})
const otherCases: KafkaCase[] = [
  other('DescribeCluster: controllers', 60, 2, { includeClusterAuthorizedOperations: false, endpointType: 2 }),
  other('DescribeCluster: neither', 60, 2, { includeClusterAuthorizedOperations: false, endpointType: 3 }),
  other('DescribeCluster: with operations', 60, 0, { includeClusterAuthorizedOperations: true }),
  other('FindCoordinator: a type that is not', 10, 6, { keyType: 9, coordinatorKeys: ['g'] }),
  other('FindCoordinator: shares before v6', 10, 5, { keyType: 2, coordinatorKeys: ['g:11111111-2222-4333-8444-555555555555:0'] }),
  other('ApiVersions: no name', 18, 3, { clientSoftwareName: '', clientSoftwareVersion: '1' }),
  other('ApiVersions: a bad version', 18, 4, { clientSoftwareName: 'a', clientSoftwareVersion: '-1' }),
  other('ApiVersions: another cluster', 18, 5, { clientSoftwareName: 'a', clientSoftwareVersion: '1', clusterId: 'other', nodeId: 0 }),
  other('ApiVersions: a node without a cluster', 18, 5, {
    clientSoftwareName: 'a',
    clientSoftwareVersion: '1',
    clusterId: null,
    nodeId: 0,
  }),
  other('InitProducerId: an empty transactional id', 22, 4, { transactionalId: '', transactionTimeoutMs: 1000 }),
  other('InitProducerId: an id without an epoch', 22, 4, {
    transactionalId: null,
    transactionTimeoutMs: 1000,
    producerId: 5,
    producerEpoch: -1,
  }),
  other('InitProducerId: an epoch without an id', 22, 4, {
    transactionalId: null,
    transactionTimeoutMs: 1000,
    producerId: -1,
    producerEpoch: 5,
  }),
  other('InitProducerId: an id and an epoch', 22, 4, {
    transactionalId: null,
    transactionTimeoutMs: 1000,
    producerId: 5,
    producerEpoch: 5,
  }),
  other('DeleteRecords: past the end', 21, 2, {
    topics: [{ name: 't', partitions: [{ partitionIndex: 0, offset: 99 }] }],
    timeoutMs: 1000,
  }),
  other('DeleteRecords: below -1', 21, 2, { topics: [{ name: 't', partitions: [{ partitionIndex: 0, offset: -2 }] }], timeoutMs: 1000 }),
  other('DeleteRecords: some', 21, 2, { topics: [{ name: 't', partitions: [{ partitionIndex: 0, offset: 1 }] }], timeoutMs: 1000 }),
  other('DeleteRecords: fewer than are gone', 21, 2, {
    topics: [{ name: 't', partitions: [{ partitionIndex: 0, offset: 0 }] }],
    timeoutMs: 1000,
  }),
  other('DeleteRecords: unknown', 21, 2, {
    topics: [{ name: 'nowhere', partitions: [{ partitionIndex: 0, offset: 0 }] }],
    timeoutMs: 1000,
  }),
  other('DeleteTopics: unknown', 20, 6, {
    topics: [
      { name: 'nowhere', topicId: ZERO },
      { name: null, topicId: UNKNOWN_ID },
    ],
    timeoutMs: 1000,
  }),
  other('DeleteTopics: neither name nor id', 20, 6, { topics: [{ name: null, topicId: ZERO }], timeoutMs: 1000 }),
  {
    name: 'DeleteTopics: both name and id',
    key: 20,
    version: 6,
    request: (ids) => ({ topics: [{ name: 'u', topicId: ids.get('u') }], timeoutMs: 1000 }),
  },
  {
    name: 'DeleteTopics: by name and by id',
    key: 20,
    version: 6,
    request: (ids) => ({
      topics: [
        { name: 'u', topicId: ZERO },
        { name: null, topicId: ids.get('u') },
      ],
      timeoutMs: 1000,
    }),
  },
  other('DeleteTopics: a name twice', 20, 5, { topicNames: ['old', 'old'], timeoutMs: 1000 }),
  other('DeleteTopics: by name', 20, 1, { topicNames: ['old', 'nowhere'], timeoutMs: 1000 }),
]

export const KAFKA_CASES: readonly KafkaCase[] = [
  ...createCases,
  ...metadataCases,
  ...produceCases,
  ...fetchCases,
  ...listCases,
  ...epochCases,
  ...configCases,
  ...alterCases,
  ...groupCases,
  ...memberCases,
  ...otherCases,
]

/** What is compared: everything but texts for people, times, addresses and random ids. */
export function comparable(value: unknown, key = ''): unknown {
  if (
    [
      'errorMessage',
      'throttleTimeMs',
      'host',
      'port',
      'rack',
      'clusterId',
      'documentation',
      'memberId',
      'leader',
      'batchIndexErrorMessage',
      'logDir',
      'totalBytes',
      'usableBytes',
    ].includes(key)
  )
    return undefined
  if (key === 'topicId') return value === ZERO ? 'none' : 'some'
  if (key === 'apiKeys') return Array.isArray(value) ? value.length > 0 : value
  if (key === 'configs' && Array.isArray(value) && value.length > 5) return 'many'
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (Array.isArray(value)) {
    const items = value.map((item) => comparable(item))
    // Kafka's order is that of its hash maps, except where it means something.
    return key === 'synonyms' ? items : items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  }
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, field]) => [name, comparable(field, name)] as const)
  return Object.fromEntries(entries.filter(([, field]) => field !== undefined))
}
