// @platformatic/kafka: writes and reads the records of test/compat. It gives headers as a Map: no repeated keys.
import { Admin, Consumer, ListOffsetTimestamps, MessagesStreamModes, Producer } from '@platformatic/kafka'
import { action, Digest, numbers, options, records } from './common.mjs'

const base = { clientId: 'compat', bootstrapBrokers: [options.bootstrap] }

if (action === 'produce') {
  const producer = new Producer({ ...base, idempotent: options.idempotent ?? false })
  const all = records()
  for (let at = 0; at < all.length; at += 500) {
    await producer.send({
      acks: options.acks === 'all' ? -1 : Number(options.acks),
      compression: options.codec,
      messages: all.slice(at, at + 500).map((record) => ({
        topic: options.topic,
        partition: record.partition,
        key: record.key,
        value: record.value,
        headers: new Map(record.headers.map(([key, value]) => [Buffer.from(key), value])),
        timestamp: BigInt(record.timestamp),
      })),
    })
  }
  await producer.close()
} else if (action === 'time') {
  const consumer = new Consumer({ ...base, groupId: 'time' })
  const found = await consumer.listOffsets({ topics: [options.topic], timestamp: BigInt(options.timestamp) })
  console.log(String(found.get(options.topic)[Number(options.partition ?? 0)]))
  await consumer.close()
} else {
  const counts = numbers(options.counts)
  const total = counts.reduce((a, b) => a + b, 0)
  const digest = new Digest(counts.length)
  const consumer = new Consumer({
    ...base,
    groupId: options.group ?? `platformatic-${process.pid}-${Date.now()}`,
    autocommit: false,
    sessionTimeout: 10000,
  })
  const stream = await consumer.consume({ topics: [options.topic], mode: MessagesStreamModes.EARLIEST, maxWaitTime: 200 })
  const timer = setTimeout(() => {
    console.error(`got ${digest.counts} of ${counts} within 120 s`)
    process.exit(1)
  }, 120_000)
  for await (const message of stream) {
    const headers = [...message.headers].map(([key, value]) => [key.toString(), value ?? null])
    digest.add(message.partition, message.offset, message.timestamp, message.key ?? null, message.value ?? null, headers)
    if (digest.total >= total) break
  }
  clearTimeout(timer)
  await consumer.close(true)
  digest.show()
}
void Admin
void ListOffsetTimestamps
