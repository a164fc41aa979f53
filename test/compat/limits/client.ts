import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import {
  decodeResponse,
  decodeResponseHeader,
  encodeRequestFrame,
  type ApiKey,
  type Apis,
  type MessageInput,
  type MessageOf,
} from '../../../protocol/index.ts'
import { BatchBuilder } from '../../../protocol/records/build.ts'
import { batchCrc } from '../../../protocol/records/header.ts'

type Request<K extends ApiKey> = MessageInput<Apis[K]['request']>
type Response<K extends ApiKey> = MessageOf<Apis[K]['response']>

const FETCH_VERSION = 12
const PRODUCE_VERSION = 9
let correlations = 0

/** One connection that sends whatever it is told, whole requests or not. Answers are taken in order, as whole frames. */
export class RawClient {
  readonly socket: Socket
  readonly closed: Promise<void>
  #isClosed = false
  #received: Buffer[] = []
  #receivedBytes = 0
  readonly #waiting: ((frame: Buffer | null) => void)[] = []
  readonly #frames: Buffer[] = []

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', () => undefined) // 'close' follows
    this.closed = new Promise((resolve) =>
      socket.once('close', () => {
        this.#isClosed = true
        for (const waiter of this.#waiting.splice(0)) waiter(null)
        resolve()
      }),
    )
  }

  static open(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.removeListener('error', reject)
        resolve(new RawClient(socket))
      })
    })
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  write(bytes: Uint8Array): void {
    if (!this.#isClosed) this.socket.write(bytes)
  }

  /** The next answer without its size; null when the broker closed; 'silence' after `waitMs`. */
  answer(waitMs = 20_000): Promise<Buffer | null | 'silence'> {
    const ready = this.#frames.shift()
    if (ready !== undefined) return Promise.resolve(ready)
    if (this.#isClosed) return Promise.resolve(null)
    return new Promise((resolve) => {
      const waiter = (frame: Buffer | null): void => {
        clearTimeout(timer)
        resolve(frame)
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        resolve('silence')
      }, waitMs)
      this.#waiting.push(waiter)
    })
  }

  /** Sends a request and decodes its answer; throws when there is none. */
  async call<K extends ApiKey>(key: K, version: number, request: Request<K>, waitMs?: number): Promise<Response<K>> {
    this.write(frameOf(key, version, request))
    const frame = await this.answer(waitMs)
    if (frame === null || frame === 'silence') throw new Error(`API ${key} v${version}: ${frame === null ? 'connection closed' : frame}`)
    return decodeResponse(key, version, frame, decodeResponseHeader(key, version, frame).bodyAt)
  }

  async destroy(): Promise<void> {
    this.socket.destroy()
    await this.closed
  }

  #take(chunk: Buffer): void {
    this.#received.push(chunk)
    this.#receivedBytes += chunk.length
    for (;;) {
      if (this.#receivedBytes < 4) return
      const head = this.#received[0].length >= 4 ? this.#received[0] : this.#joined()
      const size = head.readInt32BE(0)
      if (this.#receivedBytes < size + 4) return
      const all = this.#joined()
      const frame = all.subarray(4, size + 4)
      this.#received = [all.subarray(size + 4)]
      this.#receivedBytes -= size + 4
      const waiter = this.#waiting.shift()
      if (waiter === undefined) this.#frames.push(frame)
      else waiter(frame)
    }
  }

  #joined(): Buffer {
    if (this.#received.length > 1) this.#received = [Buffer.concat(this.#received)]
    return this.#received[0]
  }
}

/** A request as bytes, its size included. */
export function frameOf<K extends ApiKey>(apiKey: K, apiVersion: number, request: Request<K>): Buffer {
  return Buffer.concat(encodeRequestFrame({ apiKey, apiVersion, correlationId: ++correlations, clientId: 'limits' }, request).chunks)
}

/** A batch of `values`, not compressed. */
export function batchOf(values: readonly Uint8Array[], timestampMs = Date.now()): Buffer {
  const builder = new BatchBuilder()
  values.forEach((value, i) => builder.append(i, timestampMs, null, 0, 0, value, 0, value.length))
  return Buffer.from(builder.finish())
}

/** The batch with another payload and codec: whatever the payload is, header and CRC are right. */
export function withPayload(batch: Buffer, codec: number, payload: Uint8Array): Buffer {
  const changed = Buffer.concat([batch.subarray(0, 61), payload])
  changed.writeInt32BE(changed.length - 12, 8)
  changed.writeInt16BE(codec, 21)
  changed.writeUInt32BE(batchCrc(changed), 17)
  return changed
}

/** The batch after `change`, its CRC put right. */
export function altered(batch: Buffer, change: (batch: Buffer) => void): Buffer {
  const changed = Buffer.from(batch)
  change(changed)
  changed.writeUInt32BE(batchCrc(changed), 17)
  return changed
}

export function produceOf(topic: string, partition: number, records: Buffer | null, acks = -1): Request<0> {
  return {
    transactionalId: null,
    acks,
    timeoutMs: 30_000,
    topicData: [{ name: topic, partitionData: [{ index: partition, records }] }],
  }
}

export interface Produced {
  readonly error: number
  readonly baseOffset: number
}

/** Produces one batch: the error code and the base offset; 'closed' when the broker closed the connection. */
export async function produce(
  client: RawClient,
  topic: string,
  partition: number,
  records: Buffer | null,
  waitMs?: number,
): Promise<Produced> {
  const answer = await client.call(0, PRODUCE_VERSION, produceOf(topic, partition, records), waitMs)
  const { errorCode, baseOffset } = answer.responses[0].partitionResponses[0]
  return { error: errorCode, baseOffset }
}

export const produceFrame = (topic: string, partition: number, records: Buffer | null): Buffer =>
  frameOf(0, PRODUCE_VERSION, produceOf(topic, partition, records))

export function fetchOf(topic: string, partition: number, offset: number, maxBytes = 50 << 20, waitMs = 0): Request<1> {
  return {
    maxWaitMs: waitMs,
    minBytes: 1,
    maxBytes,
    topics: [{ topic, partitions: [{ partition, fetchOffset: offset, partitionMaxBytes: maxBytes }] }],
    forgottenTopicsData: [],
  }
}

export const fetchFrame = (topic: string, partition: number, offset: number): Buffer =>
  frameOf(1, FETCH_VERSION, fetchOf(topic, partition, offset))

/** Everything of a partition from offset 0 on, as records' bytes, batch after batch. */
export async function readAll(
  client: RawClient,
  topic: string,
  partition: number,
): Promise<{ readonly end: number; readonly batches: Buffer[] }> {
  const batches: Buffer[] = []
  for (let offset = 0; ;) {
    const answer = await client.call(1, FETCH_VERSION, fetchOf(topic, partition, offset))
    const { errorCode, highWatermark, records } = answer.responses[0].partitions[0]
    if (errorCode !== 0) throw new Error(`fetching ${topic}-${partition} at ${offset}: error ${errorCode}`)
    const bytes = records === null ? Buffer.alloc(0) : Buffer.from(records)
    for (let at = 0; at + 61 <= bytes.length;) {
      const size = bytes.readInt32BE(at + 8) + 12
      if (at + size > bytes.length) break
      batches.push(bytes.subarray(at, at + size))
      offset = Number(bytes.readBigInt64BE(at)) + bytes.readInt32BE(at + 23) + 1
      at += size
    }
    if (offset >= highWatermark) return { end: highWatermark, batches }
    if (bytes.length === 0) throw new Error(`fetching ${topic}-${partition} at ${offset}: nothing, though it ends at ${highWatermark}`)
  }
}

export async function createTopic(
  client: RawClient,
  name: string,
  partitions: number,
  configs: Record<string, string> = {},
): Promise<void> {
  const answer = await client.call(19, 5, {
    topics: [
      {
        name,
        numPartitions: partitions,
        replicationFactor: 1,
        assignments: [],
        configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
      },
    ],
    timeoutMs: 10_000,
  })
  if (answer.topics[0].errorCode !== 0) throw new Error(`creating ${name}: error ${answer.topics[0].errorCode}`)
}

/** Resident memory of a process, MiB. */
export function residentMib(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1]) / 1024
}

/** CPU seconds of a process so far. */
export function cpuSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
