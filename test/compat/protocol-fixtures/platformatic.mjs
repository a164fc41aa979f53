// Most APIs that @platformatic/kafka speaks, once; for record-clients.ts.
import { Admin, Consumer, Producer } from '@platformatic/kafka'

const base = { clientId: 'platformatic', bootstrapBrokers: [process.env.BOOTSTRAP] }
const topic = `platformatic-${process.pid}`
const groupId = `${topic}-group`
const admin = new Admin(base)
await admin.createTopics({ topics: [topic], partitions: 2, replicas: 1, configs: [{ name: 'retention.ms', value: '3600000' }] })
await admin.listTopics()
await admin.createPartitions({ topics: [{ name: topic, count: 3, assignments: null }] })
await admin.describeConfigs({
  resources: [{ resourceType: 2, resourceName: topic, configurationKeys: ['retention.ms'] }],
  includeSynonyms: true,
})
const set = { name: 'retention.ms', configOperation: 0, value: '7200000' }
await admin.incrementalAlterConfigs({ resources: [{ resourceType: 2, resourceName: topic, configs: [set] }] })

const producer = new Producer({ ...base, idempotent: true })
const message = { topic, key: Buffer.from('k'), value: Buffer.from('v'), partition: 0 }
await producer.send({ messages: [message], acks: -1 })
await producer.send({ messages: [message, { ...message, partition: 1 }], acks: -1, compression: 'gzip' })
await producer.close()

const consumer = new Consumer({ ...base, groupId, sessionTimeout: 6000, heartbeatInterval: 300, autocommit: false })
const stream = await consumer.consume({ topics: [topic], mode: 'earliest', maxWaitTime: 200 })
let seen = 0
for await (const one of stream) {
  await one.commit()
  if (++seen === 3) break
}
await new Promise((resolve) => setTimeout(resolve, 700))
await admin.describeGroups({ groups: [groupId] })
await admin.listGroups({ states: ['STABLE'] })
await consumer.close(true)
await admin.listConsumerGroupOffsets({ groups: [groupId] })
await admin.listOffsets({ topics: [{ name: topic, partitions: [{ partitionIndex: 0, timestamp: -1n }] }] })
await admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition: 0, offset: 1n }] }] })
await admin.deleteConsumerGroupOffsets({ groupId, topics: [{ name: topic, partitionIndexes: [0] }] })
await admin.deleteGroups({ groups: [groupId] })
await admin.deleteTopics({ topics: [topic] })
await admin.close()
