import { connect, type Socket } from 'node:net'
import { Registry } from 'prom-client'
import { systemClock, type Clock } from '../../../src/base/clock.ts'
import type { Logger } from '../../../src/base/log.ts'
import type { Answer, ConnectionInfo, Dispatch, ServerLimits } from '../../../src/server/port.ts'
import { KafkaServer } from '../../../src/server/server.ts'
import type { RequestHeaderAt } from '../../../protocol/index.ts'

export const PRODUCE = 0
export const FETCH = 1
export const METADATA = 3

/** A request frame with its size: header v1 and any bytes as body. */
export function request(apiKey: number, correlationId: number, body: Uint8Array = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(4 + 8 + 2 + 4)
  head.writeInt32BE(14 + body.length, 0)
  head.writeInt16BE(apiKey, 4)
  head.writeInt16BE(3, 6)
  head.writeInt32BE(correlationId, 8)
  head.writeInt16BE(4, 12)
  head.write('test', 14)
  return Buffer.concat([head, body])
}

/** A response frame with its size: the correlation id and any chunks. */
export function response(correlationId: number, ...chunks: readonly Uint8Array[]): Answer {
  const head = Buffer.alloc(8)
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  head.writeInt32BE(4 + bytes, 0)
  head.writeInt32BE(correlationId, 4)
  return { chunks: [head, ...chunks], sizeBytes: 8 + bytes }
}

/** A request that a handler has begun; the test answers it. */
export interface Begun {
  readonly connection: ConnectionInfo
  readonly header: RequestHeaderAt
  readonly frame: Buffer
  answer(outcome?: Answer | null | 'close'): void
  fail(error: Error): void
}

/** A dispatch whose requests wait for the test. */
export class Handler {
  readonly begun: Begun[] = []
  readonly dispatch: Dispatch = (connection, header, frame) =>
    new Promise((resolve, reject) => {
      const answer = (outcome: Answer | null | 'close' = response(header.correlationId)): void => resolve(outcome)
      this.begun.push({ connection, header, frame, answer, fail: reject })
    })
  get ids(): number[] {
    return this.begun.map(({ header }) => header.correlationId)
  }
}

/** Time that only moves when the test says so. */
export class ManualClock implements Clock {
  #nowMs = 0
  readonly #timers = new Set<{ readonly atMs: number; readonly fn: () => void }>()
  wallMs(): number {
    return this.#nowMs
  }
  monotonicMs(): number {
    return this.#nowMs
  }
  timer(delayMs: number, fn: () => void): { cancel(): void } {
    const entry = { atMs: this.#nowMs + delayMs, fn }
    this.#timers.add(entry)
    return { cancel: () => void this.#timers.delete(entry) }
  }
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.timer(delayMs, resolve))
  }
  advance(ms: number): void {
    const untilMs = this.#nowMs + ms
    for (;;) {
      const due = [...this.#timers].filter(({ atMs }) => atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (due === undefined) break
      this.#timers.delete(due)
      this.#nowMs = due.atMs
      due.fn()
    }
    this.#nowMs = untilMs
  }
}

export interface Started {
  readonly server: KafkaServer
  readonly port: number
  readonly registry: Registry
  /** Messages of warn and error. */
  readonly lines: string[]
  readonly fields: object[]
}

export async function start(dispatch: Dispatch, limits: Partial<ServerLimits> = {}, clock: Clock = systemClock): Promise<Started> {
  const lines: string[] = []
  const fields: object[] = []
  const line = (given: object, message: string): void => {
    fields.push(given)
    lines.push(message)
  }
  const logger: Logger = { debug() {}, info() {}, warn: line, error: line }
  const registry = new Registry()
  const listeners = [{ name: 'PLAINTEXT', host: '127.0.0.1', port: 0 }]
  const server = new KafkaServer({ clock, logger, registry, listeners, dispatch, limits })
  const [{ port }] = await server.listen()
  return { server, port, registry, lines, fields }
}

/** A client that collects whole response frames. */
export class Client {
  readonly socket: Socket
  readonly responses: Buffer[] = []
  closed = false
  #got: Buffer[] = []
  #bytes = 0

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk) => this.#onData(chunk))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.closed = true
    })
  }

  static open(port: number): Promise<Client> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => resolve(new Client(socket)))
    })
  }

  get ids(): number[] {
    return this.responses.map((frame) => frame.readInt32BE(4))
  }

  send(...frames: readonly Uint8Array[]): void {
    this.socket.write(Buffer.concat(frames))
  }

  #onData(chunk: Buffer): void {
    this.#got.push(chunk)
    this.#bytes += chunk.length
    for (;;) {
      if (this.#bytes < 4) return
      if (this.#got[0].length < 4) this.#got = [Buffer.concat(this.#got)]
      const size = 4 + this.#got[0].readInt32BE(0)
      if (this.#bytes < size) return
      const all = this.#got.length === 1 ? this.#got[0] : Buffer.concat(this.#got)
      this.responses.push(all.subarray(0, size))
      this.#got = size === all.length ? [] : [all.subarray(size)]
      this.#bytes -= size
    }
  }
}

/** Waits until the condition holds; the bound only ends a broken run. */
export async function until(condition: () => boolean, what = 'condition'): Promise<void> {
  for (let i = 0; i < 4000; i++) {
    if (condition()) return
    await new Promise((resolve) => setTimeout(resolve, i < 50 ? 0 : 5))
  }
  throw new Error(`never came true: ${what}`)
}

/** Lets what is under way on loopback arrive: rounds of the event loop. */
export async function settle(rounds = 30): Promise<void> {
  for (let i = 0; i < rounds; i++) await new Promise((resolve) => setTimeout(resolve, 1))
}
