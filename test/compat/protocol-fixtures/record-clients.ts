/**
 * Records what a foreign client and a real Kafka say to each other: a proxy between the two that keeps, for every API of the registry and
 * every version, the first few different requests with their responses. Writes test/fixtures/protocol/clients/<client>.jsonl, one exchange
 * a line: api, key, version, and both bodies with their headers (without the size) as hex. See README.md beside this file.
 *
 * usage: node record-clients.ts NAME LISTEN_PORT BROKER_PORT COMMAND...   (COMMAND finds the proxy's address in BOOTSTRAP)
 */
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import type { Socket } from 'node:net'
import { isApiKey, apis } from '../../../protocol/registry.ts'

const PER_VERSION = 3
const MAX_BYTES = 6000

interface Exchange {
  api: string
  key: number
  version: number
  request: string
  response: string | null
}

const [name, listenPort, brokerPort, ...command] = process.argv.slice(2)
if (command.length === 0) {
  console.error('usage: node record-clients.ts NAME LISTEN_PORT BROKER_PORT COMMAND...')
  process.exit(2)
}

const exchanges: Exchange[] = []

/** Calls back with every whole frame, without its size. */
function frames(socket: Socket, onFrame: (frame: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data])
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE()) {
      const end = 4 + rest.readInt32BE()
      onFrame(rest.subarray(4, end))
      rest = rest.subarray(end)
    }
  })
}

function keep(request: Buffer, response: Buffer | null): void {
  const [key, version] = [request.readInt16BE(0), request.readInt16BE(2)]
  if (!isApiKey(key) || request.length > MAX_BYTES || (response?.length ?? 0) > MAX_BYTES) return
  const same = exchanges.filter((one) => one.key === key && one.version === version)
  const sizes = same.map((one) => `${one.request.length} ${one.response?.length}`)
  if (same.length >= PER_VERSION || sizes.includes(`${request.length * 2} ${response && response.length * 2}`)) return
  exchanges.push({ api: apis[key].name, key, version, request: request.toString('hex'), response: response && response.toString('hex') })
}

const server = createServer((client) => {
  const broker = connect(Number(brokerPort), '127.0.0.1')
  const open = new Map<number, Buffer>()
  frames(client, (frame) => open.set(frame.readInt32BE(4), frame))
  frames(broker, (frame) => {
    const request = open.get(frame.readInt32BE(0))
    open.delete(frame.readInt32BE(0))
    if (request) keep(request, frame)
  })
  const close = (): void => {
    // only Produce with acks 0 goes unanswered; the others were cut off
    for (const request of open.values()) if (request.readInt16BE() === 0) keep(request, null)
    open.clear()
    client.destroy()
    broker.destroy()
  }
  for (const socket of [client, broker]) socket.on('close', close).on('error', close)
  client.pipe(broker)
  broker.pipe(client)
})

server.listen(Number(listenPort), '127.0.0.1', () => {
  const env = { ...process.env, BOOTSTRAP: `127.0.0.1:${listenPort}` }
  const child = spawn(command[0], command.slice(1), { stdio: 'inherit', env })
  child.on('exit', (code) => {
    const byKey = exchanges.toSorted((a, b) => a.key - b.key || a.version - b.version)
    const file = new URL(`../../fixtures/protocol/clients/${name}.jsonl`, import.meta.url)
    if (code === 0) writeFileSync(file, byKey.map((one) => JSON.stringify(one)).join('\n') + '\n')
    console.log(`${name}: ${byKey.map((one) => `${one.api} ${one.version}`).join(', ')}`)
    process.exit(code ?? 1)
  })
})
