import { afterEach, expect, test } from 'vitest'
import type { KafkaServer } from '../../../src/server/server.ts'
import { Client, FETCH, Handler, ManualClock, METADATA, PRODUCE, request, response, settle, start, until } from './help.ts'

let server: KafkaServer | undefined
afterEach(() => server?.close(0))

test('KIP-219: the response leaves at once, the next request waits out the throttle', async () => {
  const handler = new Handler()
  const clock = new ManualClock()
  const { server: s, port } = await start(handler.dispatch, {}, clock)
  server = s
  const client = await Client.open(port)
  client.send(request(PRODUCE, 1), request(METADATA, 2))
  await until(() => handler.begun.length === 1)
  handler.begun[0].answer({ ...response(1), throttleMs: 300 })
  await until(() => client.responses.length === 1)
  client.send(request(METADATA, 3))
  clock.advance(299)
  await settle()
  expect(handler.begun.length).toBe(1)
  clock.advance(1)
  await until(() => handler.begun.length === 2)
  handler.begun[1].answer()
  await until(() => handler.begun.length === 3)
})

test('acks 0 and goodbye: Produce requests that arrived are all handed over', async () => {
  const handler = new Handler()
  const { server: s, port } = await start(handler.dispatch)
  server = s
  const client = await Client.open(port)
  client.send(request(METADATA, 0), request(PRODUCE, 1), request(PRODUCE, 2), request(PRODUCE, 3))
  client.socket.end()
  await until(() => handler.begun.length === 1 && handler.begun[0].connection.signal.aborted)
  handler.begun[0].answer()
  await until(() => handler.begun.length === 4)
  for (const begun of handler.begun.slice(1)) begun.answer(null)
  await until(() => s.connections === 0)
  expect(handler.ids).toEqual([0, 1, 2, 3])
  expect(client.ids).toEqual([0])
})

test('a connection that breaks off ends its long poll; Produce behind it is applied, other requests are forgotten', async () => {
  const handler = new Handler()
  const { server: s, port } = await start(handler.dispatch)
  server = s
  const client = await Client.open(port)
  client.send(request(FETCH, 1), request(PRODUCE, 2), request(FETCH, 3), request(PRODUCE, 4))
  await until(() => handler.begun.length === 1)
  expect(handler.begun[0].connection.signal.aborted).toBe(false)
  client.socket.resetAndDestroy()
  await until(() => handler.begun[0].connection.signal.aborted)
  await until(() => s.connections === 0)
  handler.begun[0].answer()
  await until(() => handler.begun.length === 2)
  handler.begun[1].answer()
  await settle()
  expect(handler.ids).toEqual([1, 2])
  expect(s.inFlightBytes).toBe(0)
})

test('idle connections are closed; one that waits for an answer is not idle', async () => {
  const handler = new Handler()
  const clock = new ManualClock()
  const { server: s, port } = await start(handler.dispatch, { idleMs: 60000 }, clock)
  server = s
  const idle = await Client.open(port)
  const half = await Client.open(port)
  const polling = await Client.open(port)
  half.send(request(FETCH, 1).subarray(0, 9))
  polling.send(request(FETCH, 1))
  await until(() => handler.begun.length === 1 && s.inFlightBytes > 14)
  clock.advance(59000)
  await settle()
  expect(s.connections).toBe(3)
  clock.advance(10000)
  await until(() => idle.closed && half.closed)
  expect(polling.closed).toBe(false)
  handler.begun[0].answer()
  await until(() => polling.responses.length === 1)
  clock.advance(70000)
  await until(() => polling.closed)
})

test('half a request that holds the last memory and falls silent is closed, so that others go on', async () => {
  const clock = new ManualClock()
  const { server: s, port, lines } = await start(async (_, header) => response(header.correlationId), { inFlightBytes: 200000 }, clock)
  server = s
  const whole = request(PRODUCE, 1, Buffer.alloc(300000))
  const silent = await Client.open(port)
  silent.send(whole.subarray(0, 250000))
  await until(() => s.inFlightBytes >= 200000)
  const other = await Client.open(port)
  other.send(whole)
  await settle()
  expect(other.responses.length).toBe(0)
  clock.advance(10000)
  await until(() => other.responses.length === 1)
  expect(silent.closed).toBe(true)
  expect(lines.length).toBe(1)
})

test('max.connections and max.connections.per.ip', async () => {
  for (const limits of [{ connections: 2 }, { connectionsPerHost: 2 }]) {
    const { server: s, port, lines } = await start(async (_, header) => response(header.correlationId), limits)
    const [first, second] = [await Client.open(port), await Client.open(port)]
    await until(() => s.connections === 2)
    const third = await Client.open(port)
    await until(() => third.closed)
    expect(lines.length).toBe(1)
    first.socket.destroy()
    await until(() => s.connections === 1)
    const fourth = await Client.open(port)
    for (const client of [second, fourth]) {
      client.send(request(METADATA, 1))
      await until(() => client.responses.length === 1)
    }
    await s.close(0)
  }
})

test('closing lets running requests be answered, starts no other and accepts nobody', async () => {
  const handler = new Handler()
  const { server: s, port } = await start(handler.dispatch)
  const idle = await Client.open(port)
  const busy = await Client.open(port)
  busy.send(request(PRODUCE, 1), request(PRODUCE, 2), request(FETCH, 3))
  await until(() => handler.begun.length === 2 && s.connections === 2)
  const closed = s.close(60000)
  expect(handler.begun[0].connection.signal.aborted).toBe(true)
  await until(() => idle.closed)
  handler.begun[1].answer()
  handler.begun[0].answer()
  await closed
  await until(() => busy.closed)
  expect(busy.ids).toEqual([1, 2])
  expect(handler.begun.length).toBe(2)
  await expect(Client.open(port)).rejects.toThrow(/ECONNREFUSED/)
})

test('closing does not wait longer than told', async () => {
  const handler = new Handler()
  const clock = new ManualClock()
  const { server: s, port, lines } = await start(handler.dispatch, {}, clock)
  const client = await Client.open(port)
  client.send(request(PRODUCE, 1))
  await until(() => handler.begun.length === 1)
  const closed = s.close(5000)
  clock.advance(5000)
  await closed
  expect(lines.length).toBe(1)
})

test('a port that is taken is one sentence, and nothing stays open', async () => {
  const first = await start(async () => null)
  server = first.server
  const { KafkaServer } = await import('../../../src/server/server.ts')
  const { Registry } = await import('prom-client')
  const { systemClock } = await import('../../../src/base/clock.ts')
  const { silentLogger } = await import('../../../src/base/log.ts')
  const listeners = [
    { name: 'A', host: '127.0.0.1', port: 0 },
    { name: 'B', host: '127.0.0.1', port: first.port },
  ]
  const second = new KafkaServer({
    clock: systemClock,
    logger: silentLogger,
    registry: new Registry(),
    listeners,
    dispatch: async () => null,
  })
  await expect(second.listen()).rejects.toMatchObject({ code: 'SETTING_INVALID', message: expect.stringContaining('in use') })
})

test('metrics tell connections and bytes', async () => {
  const { server: s, port, registry } = await start(async (_, header) => response(header.correlationId, Buffer.alloc(92)))
  server = s
  const client = await Client.open(port)
  client.send(request(METADATA, 1))
  await until(() => client.responses.length === 1)
  const text = await registry.metrics()
  expect(text).toContain('frazil_connections 1')
  expect(text).toContain('frazil_received_bytes_total 18')
  expect(text).toContain('frazil_sent_bytes_total 100')
  expect(text).toContain('frazil_requests_in_flight 0')
})
