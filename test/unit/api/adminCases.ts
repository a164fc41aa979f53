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

/** As KAFKA_CASES, on a fresh broker of their own (test/fixtures/api/kafka-admin-answers.json). */
export const ADMIN_CASES: readonly KafkaCase[] = [
  { ...ask('CreateTopics: a', 19, 7, { topics: [made('a', 4)], timeoutMs: 5000 }), differs: 'the test begins with it' },
  ask('CreateTopics: t, u', 19, 7, { topics: [made('t', 2), made('u', 1)], timeoutMs: 5000 }),
  ...createPartitions,
]
