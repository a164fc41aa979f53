// L6: a snapshot is there before its schema, and readers fail. L8: a bucket mode whose files readers do not see.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ObjectStore } from '../../src/storage/store.ts'
import { paimonLayout } from '../../src/tables/paimon/layout.ts'
import { bench } from '../unit/tables/harness.ts'

it('writes schema, manifests, lists, snapshot and hints in the order in which readers need them; files are in no bucket', async () => {
  const keys: string[] = []
  const recording = (inner: ObjectStore): ObjectStore =>
    new Proxy(inner, {
      get(target, name) {
        const own = Reflect.get(target, name) as (...all: unknown[]) => Promise<unknown>
        if (name !== 'put' && name !== 'putIfAbsent') return typeof own === 'function' ? own.bind(target) : own
        return async (key: string, ...rest: unknown[]) => {
          const result = await own.call(target, key, ...rest)
          if (key.includes('/_paimon/'))
            keys.push(
              key
                .split('/')
                .at(-1)!
                .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'U'),
            )
          return result
        }
      },
    })
  const b = await bench({ store: recording })
  const topic = await b.topic(`orders-${randomUUID().slice(0, 8)}`, 1, { 'table.formats': 'paimon' })
  await b.produce(topic, 0, ['a', 'b'])
  await b.load(topic)
  await b.tables.replicas.settle()
  const order = ['schema-0', 'manifest-U-0', 'snapshot-1', 'LATEST', 'EARLIEST'].map((name) => keys.indexOf(name))
  expect(order.every((at) => at >= 0)).toBe(true)
  expect(order).toEqual(order.toSorted((x, y) => x - y))
  expect(Math.max(keys.indexOf('manifest-list-U-0'), keys.indexOf('manifest-list-U-1'))).toBeLessThan(keys.indexOf('snapshot-1'))
  const { body } = await b.store.get(paimonLayout.schema(b.table(topic).location, 0))
  expect((JSON.parse(body.toString()) as { options: object }).options).toMatchObject({ bucket: '-1', 'write-only': 'true' })
  await b.end()
})
