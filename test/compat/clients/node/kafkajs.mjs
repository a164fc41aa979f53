// kafkajs: writes and reads the records of test/compat. It gives headers as an object: grouped by key.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import kafkajs from 'kafkajs'
import lz4 from 'lz4-napi'
import snappy from 'snappy'
import { CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs'
import { action, Digest, numbers, options, records } from './common.mjs'

// kafkajs has gzip alone and takes the other codecs from its user
function unsnappy(bytes) {
  if (bytes.subarray(0, 8).toString('latin1') !== '\x82SNAPPY\0') return snappy.uncompressSync(bytes)
  const blocks = []
  for (let at = 16; at < bytes.length; at += 4 + bytes.readInt32BE(at))
    blocks.push(snappy.uncompressSync(bytes.subarray(at + 4, at + 4 + bytes.readInt32BE(at))))
  return Buffer.concat(blocks)
}
kafkajs.CompressionCodecs[CompressionTypes.Snappy] = () => ({
  compress: async (e) => snappy.compressSync(e.buffer),
  decompress: async (bytes) => unsnappy(bytes),
})
kafkajs.CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async (e) => lz4.compressFrame(e.buffer),
  decompress: async (bytes) => lz4.decompressFrame(bytes),
})
kafkajs.CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async (e) => zstdCompressSync(e.buffer),
  decompress: async (bytes) => zstdDecompressSync(bytes),
})

const kafka = new Kafka({ brokers: [options.bootstrap], clientId: 'compat', logLevel: logLevel.ERROR })

if (action === 'produce') {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    idempotent: options.idempotent ?? false,
    maxInFlightRequests: 1,
  })
  await producer.connect()
  const messages = records().map((record) => {
    const headers = {}
    for (const [key, value] of record.headers) headers[key] = key in headers ? [headers[key], value].flat() : value
    return { partition: record.partition, key: record.key, value: record.value, headers, timestamp: String(record.timestamp) }
  })
  for (let at = 0; at < messages.length; at += 500) {
    await producer.send({
      topic: options.topic,
      acks: options.acks === 'all' ? -1 : Number(options.acks),
      compression: options.codec === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None,
      messages: messages.slice(at, at + 500),
    })
  }
  await producer.disconnect()
} else if (action === 'time') {
  const admin = kafka.admin()
  await admin.connect()
  const found = await admin.fetchTopicOffsetsByTimestamp(options.topic, Number(options.timestamp))
  console.log(found.find((one) => one.partition === Number(options.partition ?? 0)).offset)
  await admin.disconnect()
} else {
  const counts = numbers(options.counts)
  const total = counts.reduce((a, b) => a + b, 0)
  const digest = new Digest(counts.length)
  const consumer = kafka.consumer({ groupId: options.group ?? `kafkajs-${process.pid}-${Date.now()}`, sessionTimeout: 10000 })
  await consumer.connect()
  await consumer.subscribe({ topic: options.topic, fromBeginning: true })
  const timer = setTimeout(() => {
    console.error(`got ${digest.counts} of ${counts} within 120 s`)
    process.exit(1)
  }, 120_000)
  await new Promise((resolve) => {
    void consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch, heartbeat }) => {
        for (const message of batch.messages) {
          const headers = Object.entries(message.headers ?? {}).flatMap(([key, value]) => [value].flat().map((one) => [key, one ?? null]))
          digest.add(batch.partition, message.offset, message.timestamp, message.key, message.value, headers)
        }
        await heartbeat()
        if (digest.total >= total) resolve()
      },
    })
  })
  clearTimeout(timer)
  if (options.group)
    await consumer.commitOffsets(counts.map((count, partition) => ({ topic: options.topic, partition, offset: String(count) })))
  await consumer.disconnect()
  digest.show()
}
