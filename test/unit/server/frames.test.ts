import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { FrameReader } from '../../../src/server/frames.ts'
import type { KafkaServer } from '../../../src/server/server.ts'
import { Client, FETCH, Handler, METADATA, request, response, settle, start, until } from './help.ts'

let server: KafkaServer | undefined
afterEach(() => server?.close(0))

const echo = async (_: unknown, header: { correlationId: number; bodyAt: number }, frame: Buffer): Promise<ReturnType<typeof response>> =>
  response(header.correlationId, frame.subarray(header.bodyAt))

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

test('frames cut anywhere, and many frames in one chunk', () => {
  const frames = Array.from({ length: 50 }, (_, i) => Buffer.alloc((i * i * 37) % 3000, i))
  const stream = Buffer.concat(frames.flatMap((frame) => [int32(frame.length), frame]))
  for (const step of [1, 2, 3, 7, 1000, 65536, stream.length]) {
    const reader = new FrameReader(10000)
    const got: Buffer[] = []
    for (let at = 0; at < stream.length; at += step) {
      reader.feed(Buffer.from(stream.subarray(at, at + step)))
      for (let frame = reader.take(); frame !== null; frame = reader.take()) got.push(frame)
    }
    expect(got.length).toBe(frames.length)
    expect(got.every((frame, i) => frame.equals(frames[i]))).toBe(true)
    expect(reader.heldBytes).toBe(0)
  }
})

test('a large frame has a buffer of its own size, taken when an eighth of it has arrived', () => {
  const size = 8 * 1024 * 1024
  const reader = new FrameReader(size)
  reader.feed(int32(size))
  expect([reader.take(), reader.heldBytes]).toEqual([null, 0])
  const chunk = Buffer.alloc(64 * 1024, 7)
  let frame: Buffer | null = null
  for (let i = 0; i < 128; i++) {
    expect(frame).toBe(null)
    reader.feed(Buffer.from(chunk))
    frame = reader.take()
  }
  expect(frame!.length).toBe(size)
  expect(frame!.buffer.byteLength).toBe(size)
  expect(frame!.every((byte) => byte === 7)).toBe(true)
})

test('a frame that drips in byte by byte takes little more than its bytes, and arrives whole', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const size = 4 * 1024 * 1024
  const reader = new FrameReader(size)
  reader.feed(int32(size))
  expect(reader.take()).toBeNull()
  collect()
  const before = process.memoryUsage()
  const dripped = size / 8 - 1
  for (let i = 0; i < dripped; i++) {
    reader.feed(Buffer.from([i % 251]))
    reader.take()
  }
  collect()
  const after = process.memoryUsage()
  // a buffer object for each byte took 100 times as much
  expect(after.heapUsed - before.heapUsed + after.arrayBuffers - before.arrayBuffers).toBeLessThan(8 * dripped)
  reader.feed(Buffer.alloc(size - dripped, 7))
  const frame = reader.take()!
  expect(frame.length).toBe(size)
  expect(frame.subarray(0, dripped).every((byte, i) => byte === i % 251)).toBe(true)
})

test('a small frame does not keep a large chunk alive', () => {
  const reader = new FrameReader(100000)
  const chunk = Buffer.concat([int32(10), Buffer.alloc(10), int32(60000), Buffer.alloc(60000)])
  const memory = chunk.buffer
  reader.feed(chunk)
  expect(reader.take()!.buffer).not.toBe(memory)
  expect(reader.take()!.buffer).toBe(memory) // a large one stays where it is
})

test.each([-1, -2147483648, 104857601, 2147483647])('a size of %i closes the connection with one line, others live on', async (size) => {
  const { server: s, port, lines } = await start(echo)
  server = s
  const good = await Client.open(port)
  const bad = await Client.open(port)
  bad.send(int32(size), Buffer.alloc(100))
  await until(() => bad.closed)
  expect(lines.length).toBe(1)
  expect(lines[0]).toContain(String(size))
  good.send(request(METADATA, 5))
  await until(() => good.responses.length === 1)
})

test('who announces much and sends little costs little', async () => {
  const handler = new Handler()
  const { server: s, port } = await start(handler.dispatch)
  server = s
  const before = process.memoryUsage()
  const liars = await Promise.all(Array.from({ length: 50 }, () => Client.open(port)))
  for (const liar of liars) liar.send(int32(100 * 1024 * 1024), Buffer.alloc(1000))
  await until(() => s.inFlightBytes >= 50 * 1000)
  const after = process.memoryUsage()
  expect(s.inFlightBytes).toBe(50 * 1000)
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(50 * 1024 * 1024)
  for (const liar of liars) liar.socket.destroy()
  await until(() => s.inFlightBytes === 0)
})

test('a request byte by byte, and half a request and goodbye', async () => {
  const { server: s, port, lines } = await start(echo)
  server = s
  const client = await Client.open(port)
  const bytes = request(FETCH, 9, Buffer.from('slowly'))
  for (const byte of bytes) {
    client.socket.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await until(() => client.responses.length === 1)
  expect(client.responses[0].toString('utf8', 8)).toBe('slowly')
  client.send(bytes.subarray(0, 12))
  await settle()
  client.socket.end()
  await until(() => client.closed && s.connections === 0)
  expect(lines).toEqual([])
})
