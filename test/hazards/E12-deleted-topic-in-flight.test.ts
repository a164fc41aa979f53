import { expect, test } from 'vitest'
import { Errors } from '../../protocol/errors.ts'
import { createTopic } from '../unit/metadata/helpers.ts'
import { settle, walBatch, world } from '../unit/wal/harness.ts'

// E12: a topic deleted between two updates killed the thread that flushed for all topics.

test('a topic deleted while its batches upload fails alone; the same object commits the others, and so does the next', async () => {
  const w = await world()
  const doomed = await createTopic(w.engine, 'doomed', 1)
  let upload = (): void => {}
  const slow = new Promise<void>((resolve) => (upload = resolve))
  w.store.before = (request) => (request === 'put' ? slow : undefined)
  const appending = w.wal.append([
    { topic: w.topic, partition: 0, batch: walBatch() },
    { topic: doomed, partition: 0, batch: walBatch() },
    { topic: w.topic, partition: 1, batch: walBatch() },
  ])
  await settle()
  await w.engine.propose({ kind: 'deleteTopic', topic: doomed, keepTableAs: '', graceMs: 0 })
  upload()
  expect((await appending).map(({ error }) => error)).toEqual([0, Errors.UNKNOWN_TOPIC_OR_PARTITION, 0])
  expect((await w.wal.append([{ topic: doomed, partition: 0, batch: walBatch() }]))[0].error).toBe(Errors.UNKNOWN_TOPIC_OR_PARTITION)
  expect((await w.wal.append([{ topic: w.topic, partition: 0, batch: walBatch() }]))[0]).toMatchObject({ error: 0, baseOffset: 1 })
})
