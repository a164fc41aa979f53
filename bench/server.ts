/**
 * The bare server over loopback: frames in, an empty answer out, one connection with 8 requests in flight.
 * The client is a child process of its own, so that the CPU seconds are those of the server.
 * usage: node bench/server.ts [frame KiB …]
 */
import { fork } from 'node:child_process'
import { connect } from 'node:net'
import { Registry } from 'prom-client'
import { systemClock } from '../src/base/clock.ts'
import { silentLogger } from '../src/base/log.ts'
import { KafkaServer } from '../src/server/server.ts'

const IN_FLIGHT = 8
const RESPONSE_BYTES = 8

if (process.send !== undefined) client(Number(process.argv[2]), Number(process.argv[3]), Number(process.argv[4]))
else await measure(process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 16, 1024])

async function measure(sizes: readonly number[]): Promise<void> {
  const head = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0])
  const server = new KafkaServer({
    clock: systemClock,
    logger: silentLogger,
    registry: new Registry(),
    listeners: [{ name: 'PLAINTEXT', host: '127.0.0.1', port: 0 }],
    dispatch: async () => ({ chunks: [head], sizeBytes: RESPONSE_BYTES }),
  })
  const [{ port }] = await server.listen()
  for (const kib of sizes) {
    const frames = Math.min(200000, Math.ceil((2 * 1024 * 1024) / kib))
    const before = process.cpuUsage()
    const start = performance.now()
    const child = fork(new URL(import.meta.url), [String(port), String(kib * 1024), String(frames)])
    await new Promise((resolve) => child.once('message', resolve))
    const childStart = performance.now() - start
    await new Promise((resolve) => child.once('exit', resolve))
    const seconds = (performance.now() - start - childStart) / 1000
    const cpu = process.cpuUsage(before)
    const gigabytes = (frames * kib * 1024) / 1e9
    const cpuSeconds = (cpu.user + cpu.system) / 1e6
    const rate = `${((gigabytes * 1000) / seconds).toFixed(0)} MB/s, ${(frames / seconds).toFixed(0)} requests/s`
    console.log(
      `${kib} KiB frames: ${rate}, ${(cpuSeconds / gigabytes).toFixed(2)} CPU s/GB, ${((cpuSeconds / frames) * 1e6).toFixed(1)} µs a request`,
    )
  }
  await server.close(0)
}

function client(port: number, bytes: number, frames: number): void {
  const frame = Buffer.alloc(4 + bytes)
  frame.writeInt32BE(bytes, 0)
  frame.writeInt16BE(3, 6)
  frame.writeInt16BE(-1, 12)
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  let sent = 0
  let received = 0
  const send = (): void => {
    while (sent < frames && sent - received / RESPONSE_BYTES < IN_FLIGHT) {
      socket.write(frame)
      sent++
    }
  }
  socket.on('connect', () => {
    process.send!('start')
    send()
  })
  socket.on('data', (chunk) => {
    received += chunk.length
    if (received === frames * RESPONSE_BYTES) process.exit(0)
    send()
  })
}
