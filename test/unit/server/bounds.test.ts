import { afterEach, expect, test } from 'vitest'
import type { KafkaServer } from '../../../src/server/server.ts'
import { Client, FETCH, Handler, ManualClock, PRODUCE, request, response, settle, start, until } from './help.ts'

let server: KafkaServer | undefined
afterEach(() => server?.close(0))

const MIB = 1024 * 1024
const body = Buffer.alloc(MIB, 1)
const READ = 64 * 1024

test('a connection has no more requests in flight than its bound', async () => {
  const handler = new Handler()
  const { server: s, port } = await start(handler.dispatch, { connectionInFlightBytes: 4 * MIB + 1000 })
  server = s
  const client = await Client.open(port)
  for (let i = 0; i < 12; i++) client.send(request(PRODUCE, i, body))
  await until(() => handler.begun.length === 4)
  await settle()
  expect(handler.begun.length).toBe(4)
  expect(s.inFlightBytes).toBeLessThan(4 * MIB + 1000 + 2 * READ)
  for (let i = 0; i < 12; i++) {
    await until(() => handler.begun.length > i)
    expect(s.inFlightBytes).toBeLessThan(4 * MIB + 1000 + 2 * READ)
    handler.begun[i].answer()
  }
  await until(() => client.responses.length === 12)
  expect(s.inFlightBytes).toBe(0)
})

test('one request may be larger than the bound of its connection', async () => {
  const handler = new Handler()
  const { server: s, port } = await start(handler.dispatch, { connectionInFlightBytes: 1000 })
  server = s
  const client = await Client.open(port)
  client.send(request(PRODUCE, 1, body), request(PRODUCE, 2, body))
  await until(() => handler.begun.length === 1)
  handler.begun[0].answer()
  await until(() => handler.begun.length === 2)
  expect(handler.begun[1].frame.subarray(-MIB).equals(body)).toBe(true)
})

test('all connections together stay inside the bound, and all are served', async () => {
  const handler = new Handler()
  const { server: s, port, registry } = await start(handler.dispatch, { inFlightBytes: 4 * MIB })
  server = s
  const clients = await Promise.all(Array.from({ length: 12 }, () => Client.open(port)))
  for (const [c, client] of clients.entries()) for (let i = 0; i < 3; i++) client.send(request(PRODUCE, c * 3 + i, body))
  const bound = 4 * MIB + (MIB + 100) + 12 * READ
  await until(() => handler.begun.length > 0)
  await settle()
  expect((await registry.getSingleMetric('frazil_connections_paused')!.get()).values[0].value).toBeGreaterThan(5)
  let answered = 0
  while (answered < 36) {
    await until(() => handler.begun.length > answered, `request ${answered}`)
    expect(s.inFlightBytes).toBeLessThan(bound)
    handler.begun[answered++].answer()
  }
  await until(() => clients.every((client) => client.responses.length === 3))
  expect(s.inFlightBytes).toBe(0)
})

test('half requests that fill the memory do not wait for each other for ever', async () => {
  const { server: s, port } = await start(async (_, header) => response(header.correlationId), { inFlightBytes: 2 * MIB })
  server = s
  const clients = await Promise.all(Array.from({ length: 8 }, () => Client.open(port)))
  const whole = request(PRODUCE, 1, body)
  for (const client of clients) client.send(whole.subarray(0, MIB / 2))
  await until(() => s.inFlightBytes >= 2 * MIB)
  await settle()
  expect(s.inFlightBytes).toBeLessThan(2 * MIB + MIB + 8 * READ)
  for (const client of clients) client.send(whole.subarray(MIB / 2))
  await until(() => clients.every((client) => client.responses.length === 1))
})

test('a slow reader starts no more requests and holds no more memory, then gets everything', async () => {
  const chunk = Buffer.alloc(MIB, 'x')
  let begun = 0
  const { server: s, port } = await start(async (_, header) => {
    begun++
    return response(header.correlationId, chunk, chunk)
  })
  server = s
  const client = await Client.open(port)
  client.socket.pause()
  for (let i = 0; i < 60; i++) client.send(request(FETCH, i))
  await until(() => begun > 0)
  await settle(100)
  const stuckAt = begun
  expect(stuckAt).toBeLessThan(15) // what the kernel's buffers take, and one more
  await settle(50)
  expect(begun).toBe(stuckAt)
  client.socket.resume()
  await until(() => client.responses.length === 60)
  expect(client.ids).toEqual(Array.from({ length: 60 }, (_, i) => i))
  expect(client.responses.every((frame) => frame.length === 8 + 2 * MIB)).toBe(true)
})

test('small responses to a reader that does not read are bounded too', async () => {
  let begun = 0
  const { server: s, port } = await start(
    async (_, header) => {
      begun++
      return response(header.correlationId, Buffer.alloc(1000))
    },
    { unsentBytes: 1 },
  )
  server = s
  const client = await Client.open(port)
  client.socket.pause()
  for (let i = 0; i < 20000; i++) client.send(request(PRODUCE, i))
  await until(() => begun > 1000)
  await settle(100)
  expect(begun).toBeLessThan(20000)
  client.socket.resume()
  await until(() => client.responses.length === 20000)
})

test('what clients do not read is counted, and forgotten with them or when they read', async () => {
  const handler = new Handler()
  const { server: s, port } = await start(handler.dispatch)
  server = s
  const clients = await Promise.all([Client.open(port), Client.open(port)])
  for (const [i, client] of clients.entries()) {
    client.socket.pause()
    client.send(request(FETCH, i))
  }
  await until(() => handler.begun.length === 2)
  for (const begun of handler.begun) begun.answer(response(begun.header.correlationId, Buffer.alloc(16 * MIB), Buffer.alloc(16 * MIB)))
  await until(() => s.queuedBytes > 32 * MIB)
  expect(s.queuedBytes).toBeLessThanOrEqual(64 * MIB + 16)
  clients[0].socket.destroy()
  await until(() => s.connections === 1)
  expect(s.queuedBytes).toBeLessThanOrEqual(32 * MIB + 8)
  clients[1].socket.resume()
  await until(() => clients[1].responses.length === 1)
  expect(s.queuedBytes).toBe(0)
})

test.each(['reads them', 'is closed as it does not'])(
  'while answers fill the memory others only produce, until their client %s',
  async (how) => {
    const clock = new ManualClock()
    const handler = new Handler()
    const { server: s, port, lines } = await start(handler.dispatch, { queuedBytes: 8 * MIB }, clock)
    server = s
    const [slow, reader, writer] = await Promise.all([Client.open(port), Client.open(port), Client.open(port)])
    slow.socket.pause()
    slow.send(request(FETCH, 1))
    await until(() => handler.begun.length === 1)
    handler.begun[0].answer(response(1, Buffer.alloc(32 * MIB)))
    await until(() => s.queuedBytes > 8 * MIB)
    reader.send(request(FETCH, 2))
    writer.send(request(PRODUCE, 3))
    await until(() => handler.begun.length === 2)
    await settle()
    expect(handler.ids).toEqual([1, 3])
    const reads = how === 'reads them'
    clock.advance(reads ? 14_000 : 20_000)
    if (reads) slow.socket.resume()
    await until(() => (reads ? slow.responses.length === 1 : s.connections === 2))
    expect(lines).toEqual(reads ? [] : ['connection closed: it does not read its answers while the memory for responses is spent'])
    await until(() => handler.begun.length === 3)
    expect(handler.ids).toEqual([1, 3, 2])
    expect(s.queuedBytes).toBe(0)
  },
)
