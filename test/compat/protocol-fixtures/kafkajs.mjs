// Every API that kafkajs speaks, once; for record-clients.ts.
import kafkajs from 'kafkajs'

const { CompressionTypes, ConfigResourceTypes, Kafka, logLevel } = kafkajs

const kafka = new Kafka({ brokers: [process.env.BOOTSTRAP], clientId: 'kafkajs', logLevel: logLevel.ERROR })
const topic = `kafkajs-${process.pid}`
const groupId = `${topic}-group`
const admin = kafka.admin()
await admin.connect()
await admin.createTopics({ topics: [{ topic, numPartitions: 2, configEntries: [{ name: 'retention.ms', value: '3600000' }] }] })
await admin.describeCluster()
await admin.listTopics()
await admin.fetchTopicMetadata({ topics: [topic] })
await admin.createPartitions({ topicPartitions: [{ topic, count: 3 }] })
await admin.describeConfigs({
  resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: ['retention.ms'] }],
  includeSynonyms: true,
})
const change = { name: 'retention.ms', value: '7200000' }
await admin.alterConfigs({ validateOnly: true, resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [change] }] })

const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1 })
await producer.connect()
const messages = [
  { key: 'k', value: 'v', headers: { h: 'x' }, partition: 0 },
  { key: null, value: null, partition: 1 },
]
await producer.send({ topic, messages, acks: -1 })
await producer.send({ topic, messages, acks: -1, compression: CompressionTypes.GZIP })
await producer.disconnect()
const careless = kafka.producer()
await careless.connect()
await careless.send({ topic, messages: [{ value: 'no answer' }], acks: 0 })
await careless.disconnect()

const consumer = kafka.consumer({ groupId, sessionTimeout: 6000, heartbeatInterval: 300 })
await consumer.connect()
await consumer.subscribe({ topic, fromBeginning: true })
let seen = 0
await new Promise((resolve) => {
  const eachMessage = async () => {
    if (++seen === 4) resolve()
  }
  void consumer.run({ autoCommitThreshold: 1, eachMessage })
})
await new Promise((resolve) => setTimeout(resolve, 1000))
await admin.describeGroups([groupId])
await admin.listGroups()
await consumer.disconnect()
await admin.fetchOffsets({ groupId, topics: [topic] })
await admin.fetchTopicOffsets(topic)
await admin.fetchTopicOffsetsByTimestamp(topic, 1)
await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] })
await admin.deleteGroups([groupId])
await admin.deleteTopics({ topics: [topic] })
await admin.disconnect()
