import { afterEach, expect, test } from 'vitest'
import type { KafkaServer } from '../../../src/server/server.ts'
import { Client, FETCH, Handler, METADATA, PRODUCE, request, response, settle, start, until } from './help.ts'

let server: KafkaServer | undefined
afterEach(() => server?.close(0))

test('Produce requests overlap, their answers leave in order', async () => {
  const handler = new Handler()
  const started = await start(handler.dispatch)
  server = started.server
  const client = await Client.open(started.port)
  client.send(...Array.from({ length: 20 }, (_, i) => request(PRODUCE, i)))
  await until(() => handler.begun.length === 20)
  for (let i = 19; i > 0; i--) handler.begun[i].answer()
  await settle()
  expect(client.responses.length).toBe(0)
  handler.begun[0].answer()
  await until(() => client.responses.length === 20)
  expect(client.ids).toEqual(Array.from({ length: 20 }, (_, i) => i))
})

test('any other request starts when all before it are answered, and is answered before the next starts (L12)', async () => {
  const handler = new Handler()
  const started = await start(handler.dispatch)
  server = started.server
  const client = await Client.open(started.port)
  client.send(
    request(PRODUCE, 1),
    request(PRODUCE, 2),
    request(METADATA, 3),
    request(METADATA, 4),
    request(PRODUCE, 5),
    request(PRODUCE, 6),
  )
  await until(() => handler.begun.length === 2)
  handler.begun[1].answer()
  await settle()
  expect(handler.ids).toEqual([1, 2])
  handler.begun[0].answer(null) // acks 0: applied, no response
  await until(() => handler.begun.length === 3)
  await settle()
  expect(handler.ids).toEqual([1, 2, 3])
  handler.begun[2].answer()
  await until(() => handler.begun.length === 4)
  await settle()
  expect(handler.ids).toEqual([1, 2, 3, 4])
  handler.begun[3].answer()
  await until(() => handler.begun.length === 6)
  handler.begun[5].answer()
  handler.begun[4].answer()
  await until(() => client.responses.length === 5)
  expect(client.ids).toEqual([2, 3, 4, 5, 6])
})

test('what is answered before a refusal goes out, then the connection closes with one line', async () => {
  const handler = new Handler()
  const { server: s, port, lines, fields } = await start(handler.dispatch)
  server = s
  const client = await Client.open(port)
  client.send(request(PRODUCE, 1), request(PRODUCE, 2), request(PRODUCE, 3))
  await until(() => handler.begun.length === 3)
  handler.begun[1].fail(new Error('Produce v1 is not served'))
  await settle()
  expect(client.closed).toBe(false)
  handler.begun[0].answer()
  await until(() => client.closed)
  expect(client.ids).toEqual([1])
  expect(lines).toEqual(['connection closed: Produce v1 is not served'])
  expect(fields[0]).toMatchObject({ clientId: 'test', clientHost: '127.0.0.1', listener: 'PLAINTEXT' })
  handler.begun[2].answer() // nobody is there any more
  await settle()
  expect(s.inFlightBytes).toBe(0)
})

test('a handler may close without a word', async () => {
  const handler = new Handler()
  const { server: s, port, lines } = await start(handler.dispatch)
  server = s
  const client = await Client.open(port)
  client.send(request(PRODUCE, 1), request(METADATA, 2))
  await until(() => handler.begun.length === 1)
  handler.begun[0].answer('close')
  await until(() => client.closed)
  expect([client.responses.length, handler.begun.length, lines.length]).toEqual([0, 1, 0])
})

test('an API that does not exist closes the connection', async () => {
  const handler = new Handler()
  const { server: s, port, lines } = await start(handler.dispatch)
  server = s
  for (const bytes of [request(9999, 1), request(-1, 1), Buffer.from([0, 0, 0, 0]), Buffer.from([0, 0, 0, 3, 0, 0, 0])]) {
    const client = await Client.open(port)
    client.send(bytes)
    await until(() => client.closed)
  }
  expect(handler.begun.length).toBe(0)
  expect(lines.length).toBe(4)
})

test('200 connections, each with its own answers in its own order', async () => {
  const { server: s, port } = await start(async (_, header, frame) => {
    await new Promise((resolve) => setTimeout(resolve, (header.correlationId * 7) % 5))
    return response(header.correlationId, frame.subarray(header.bodyAt))
  })
  server = s
  const clients = await Promise.all(Array.from({ length: 200 }, () => Client.open(port)))
  for (const [c, client] of clients.entries()) {
    for (let i = 0; i < 5; i++) client.send(request(i === 2 ? FETCH : PRODUCE, i, Buffer.from(`client ${c} request ${i}`)))
  }
  await until(() => clients.every((client) => client.responses.length === 5))
  for (const [c, client] of clients.entries()) {
    expect(client.responses.map((frame) => frame.toString('utf8', 8))).toEqual(
      Array.from({ length: 5 }, (_, i) => `client ${c} request ${i}`),
    )
  }
  for (const client of clients) client.socket.destroy()
  await until(() => s.connections === 0)
  expect(s.inFlightBytes).toBe(0)
})
