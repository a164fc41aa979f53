import {
  apis,
  decodeResponse,
  decodeResponseHeader,
  encodeRequestFrame,
  type ApiKey,
  type Apis,
  type Message,
  type MessageOf,
} from '../../../protocol/index.ts'
import { planOf, type Plan } from '../../../protocol/codec/plan.ts'
import { RawClient } from '../limits/client.ts'

/** What came back: a decoded answer, the connection closed, nothing within the time, or bytes that do not decode. */
export type Outcome = 'closed' | 'silence' | 'undecodable' | { readonly value: unknown }

export interface Step {
  readonly label: string
  readonly key: number
  readonly version: number
  readonly outcome: Outcome
}

/** Codes that mean "not yet", which clients answer by asking again: how long the peer takes is no difference. */
const NOT_YET: ReadonlySet<unknown> = new Set([14, 15, 16, 51])
const TRIES = 60

/** A request without the fields that a version lacks, so that one value serves every version. */
export function fit(message: Message, version: number, value: object): object {
  return fitStruct(planOf(message, version), value as Record<string, unknown>)
}

function fitStruct(plan: Plan, value: Record<string, unknown>): Record<string, unknown> {
  const fitted: Record<string, unknown> = {}
  for (const field of plan.fields) {
    const given = value[field.name]
    if (field.place === 'absent' || given === undefined) continue
    if (given === null && !field.nullable && field.type !== 'records') continue
    const { struct } = field
    if (struct === undefined || given === null) fitted[field.name] = given
    else if (field.type === 'struct') fitted[field.name] = fitStruct(struct, given as Record<string, unknown>)
    else fitted[field.name] = (given as Record<string, unknown>[]).map((element) => fitStruct(struct, element))
  }
  return fitted
}

/** One of the two brokers as a scenario sees it: connections by name, and the record of what was asked and answered. */
export class Side {
  readonly name: 'kafka' | 'frazil'
  readonly port: number
  readonly steps: Step[] = []
  readonly #clients = new Map<string, RawClient>()
  #correlation = 0

  constructor(name: 'kafka' | 'frazil', port: number) {
    this.name = name
    this.port = port
  }

  /** The whole frame of a request as this side is sent it: the same bytes as the other, but for ids that a broker chose. */
  frame<K extends ApiKey>(key: K, version: number, request: object): Buffer {
    const header = { apiKey: key, apiVersion: version, correlationId: ++this.#correlation, clientId: 'diff' }
    return Buffer.concat(encodeRequestFrame(header, fit(apis[key].request, version, request) as never).chunks)
  }

  async client(name: string): Promise<RawClient> {
    const open = this.#clients.get(name)
    if (open !== undefined && !open.isClosed) return open
    const client = await RawClient.open(this.port)
    this.#clients.set(name, client)
    return client
  }

  /** Sends bytes and takes what comes back, decoded as an answer of this key and version. */
  async exchange(key: number, version: number, bytes: Uint8Array, waitMs = 20_000, on = 'main'): Promise<Outcome> {
    const client = await this.client(on)
    client.write(bytes)
    return this.receive(key, version, waitMs, on)
  }

  /** The next answer on a connection. After silence the connection is thrown away: its next answer would be that of this request. */
  async receive(key: number, version: number, waitMs: number, on = 'main'): Promise<Outcome> {
    const client = await this.client(on)
    const frame = await client.answer(waitMs)
    if (frame === null) return 'closed'
    if (frame === 'silence') {
      await client.destroy()
      return 'silence'
    }
    try {
      const { bodyAt } = decodeResponseHeader(key, version, frame)
      return { value: decodeResponse(key as ApiKey, version, frame, bodyAt) }
    } catch {
      return 'undecodable'
    }
  }

  record(label: string, key: number, version: number, outcome: Outcome): void {
    this.steps.push({ label, key, version, outcome })
  }

  /** Asks, asks again while the answer is "not yet", records the last answer and returns it; null when there was none. */
  async ask<K extends ApiKey>(
    label: string,
    key: K,
    version: number,
    request: object,
    on = 'main',
    waitMs = 20_000,
  ): Promise<MessageOf<Apis[K]['response']> | null> {
    const outcome = await this.settled(key, version, request, on, waitMs)
    this.record(label, key, version, outcome)
    return typeof outcome === 'string' ? null : (outcome.value as MessageOf<Apis[K]['response']>)
  }

  /** As `ask`, for every version of a key that Frazil serves. */
  async askAll<K extends ApiKey>(
    label: string,
    key: K,
    versions: { readonly min: number; readonly max: number },
    request: (version: number) => object,
    waitMs?: number,
  ): Promise<void> {
    for (let version = versions.min; version <= versions.max; version++)
      await this.ask(label, key, version, request(version), 'main', waitMs)
  }

  async settled<K extends ApiKey>(key: K, version: number, request: object, on = 'main', waitMs = 20_000): Promise<Outcome> {
    for (let left = TRIES; ; left--) {
      const outcome = await this.exchange(key, version, this.frame(key, version, request), waitMs, on)
      if (typeof outcome === 'string' || left === 0 || !isNotYet(outcome.value)) return outcome
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async close(name?: string): Promise<void> {
    for (const [key, client] of this.#clients) {
      if (name !== undefined && key !== name) continue
      await client.destroy()
      this.#clients.delete(key)
    }
  }
}

function isNotYet(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isNotYet)
  if (value === null || typeof value !== 'object' || value instanceof Uint8Array) return false
  return Object.entries(value).some(([name, inner]) => (/errorCode$/i.test(name) ? NOT_YET.has(inner) : isNotYet(inner)))
}
