import { Errors, type RequestOf, type ResponseOf } from '../../../protocol/index.ts'

type Topics = RequestOf<1>['topics']
type Topic = Topics[number]
type Asked = Topic['partitions'][number]
type Forgotten = RequestOf<1>['forgottenTopicsData']
type Responses = ResponseOf<1>['responses']
type Answer = Responses[number]['partitions'][number]

const MAX_EPOCH = 0x7fffffff

/** A partition as the client last asked for it, and what it was last told. A link of the session's order. */
interface Entry {
  readonly topic: string
  readonly topicId: string
  asked: Asked
  highWatermark: number
  logStartOffset: number
  before: Entry | null
  after: Entry | null
}

/** What a turn tells of one topic. */
interface News {
  readonly topic: string
  readonly topicId: string
  readonly partitions: Answer[]
}

/** One request of a session, from when it is taken in until it is answered. */
export interface FetchSessionTurn {
  readonly sessionId: number
  /** Another request has gone on with the session meanwhile. */
  isOver(): boolean
  /** Of the answers by place in the topics of this turn, those that are new to the client; it counts as told. Those with records go to the end. */
  news(answerOf: (t: number, p: number) => Answer): readonly News[]
}

/**
 * One incremental fetch session (KIP-227): the partitions of a client in the order in which they are served. One that gave records goes to
 * the end, so that none starves under max_bytes.
 */
export class FetchSession {
  readonly id: number
  /** Topics are named by id (v13 on). */
  readonly usesIds: boolean
  readonly createdMs: number
  usedMs: number
  /** The epoch that the next request must have. */
  epoch = 1
  #size = 0
  #first: Entry | null = null
  #last: Entry | null = null
  readonly #byTopic = new Map<string, Map<number, Entry>>()
  /** The order as topics, kept until it changes. */
  #topics: Topics | null = null
  /** Entries by place in `#topics`. */
  #places: Entry[][] = []

  constructor(id: number, usesIds: boolean, nowMs: number) {
    this.id = id
    this.usesIds = usesIds
    this.createdMs = nowMs
    this.usedMs = nowMs
  }

  /** Partitions. */
  get size(): number {
    return this.#size
  }

  advance(): void {
    this.epoch = this.epoch === MAX_EPOCH ? 1 : this.epoch + 1
  }

  /** The partitions of a full request, with what it was answered, by place. */
  fill(asked: Topics, answered: Responses): void {
    for (let t = 0; t < asked.length; t++) {
      const { partitions } = asked[t]
      for (let p = 0; p < partitions.length; p++) {
        const entry = this.#ask(asked[t], partitions[p])
        const { highWatermark, logStartOffset = -1 } = answered[t].partitions[p]
        entry.highWatermark = highWatermark
        entry.logStartOffset = logStartOffset
      }
    }
  }

  /** What a request adds, asks anew and forgets. */
  change(asked: Topics, forgotten: Forgotten): void {
    for (const topic of asked) for (const partition of topic.partitions) this.#ask(topic, partition)
    for (const topic of forgotten) {
      const name = this.#nameOf(topic)
      const entries = this.#byTopic.get(name)
      if (entries === undefined) continue
      for (const partition of topic.partitions) {
        const entry = entries.get(partition)
        if (entry === undefined) continue
        entries.delete(partition)
        this.#unlink(entry)
        this.#size--
      }
      if (entries.size === 0) this.#byTopic.delete(name)
    }
  }

  /** What is fetched, in order; neighbours of one topic together. */
  topics(): Topics {
    if (this.#topics !== null) return this.#topics
    const topics: Topic[] = []
    this.#places = []
    for (let entry = this.#first; entry !== null; entry = entry.after) {
      const last = topics.at(-1)
      if (last !== undefined && last.topicId === entry.topicId && last.topic === entry.topic) {
        last.partitions.push(entry.asked)
        this.#places.at(-1)!.push(entry)
      } else {
        topics.push({ topic: entry.topic, topicId: entry.topicId, partitions: [entry.asked] })
        this.#places.push([entry])
      }
    }
    this.#topics = topics
    return topics
  }

  /** The turn of the request that has just been taken in: call after `topics()`. */
  turn(): FetchSessionTurn {
    const [topics, places, epoch] = [this.topics(), this.#places, this.epoch]
    return {
      sessionId: this.id,
      isOver: () => this.epoch !== epoch,
      news: (answerOf) => {
        const told: News[] = []
        const served: Entry[] = []
        for (let t = 0; t < places.length; t++) {
          let partitions: Answer[] | null = null
          for (let p = 0; p < places[t].length; p++) {
            const answer = answerOf(t, p)
            const entry = places[t][p]
            const hasRecords = bytesOf(answer.records) > 0
            if (!isNews(entry, answer) && !hasRecords) continue
            if (partitions === null) {
              const { topic, topicId } = topics[t]
              told.push({ topic, topicId, partitions: (partitions = []) })
            }
            partitions.push(answer)
            if (hasRecords) served.push(entry)
          }
        }
        for (const entry of served) this.#toEnd(entry)
        return told
      },
    }
  }

  #toEnd(entry: Entry): void {
    if (entry === this.#last) return
    this.#unlink(entry)
    this.#link(entry)
  }

  #ask(topic: Topic, asked: Asked): Entry {
    const name = this.#nameOf(topic)
    let entries = this.#byTopic.get(name)
    if (entries === undefined) this.#byTopic.set(name, (entries = new Map()))
    const known = entries.get(asked.partition)
    if (known !== undefined) {
      Object.assign(known.asked, asked)
      return known
    }
    const { topic: text, topicId } = topic
    const entry: Entry = { topic: text, topicId, asked: { ...asked }, highWatermark: -1, logStartOffset: -1, before: null, after: null }
    entries.set(asked.partition, entry)
    this.#link(entry)
    this.#size++
    return entry
  }

  #nameOf(topic: { readonly topic: string; readonly topicId: string }): string {
    return this.usesIds ? topic.topicId : topic.topic
  }

  #link(entry: Entry): void {
    entry.before = this.#last
    entry.after = null
    if (this.#last === null) this.#first = entry
    else this.#last.after = entry
    this.#last = entry
    this.#topics = null
  }

  #unlink({ before, after }: Entry): void {
    if (before === null) this.#first = after
    else before.after = after
    if (after === null) this.#last = before
    else after.before = before
    this.#topics = null
  }
}

/** Whether the client is to be told although there are no records: an error, a hint, or another high watermark or log start than before. */
function isNews(entry: Entry, answer: Answer): boolean {
  const { logStartOffset = -1 } = answer
  const hinted = (answer.preferredReadReplica ?? -1) >= 0
  const diverges = (answer.divergingEpoch?.epoch ?? -1) >= 0
  const failed = answer.errorCode !== Errors.NONE
  const moved = entry.highWatermark !== answer.highWatermark || entry.logStartOffset !== logStartOffset
  // When the error is over the client is told, even if nothing else is new.
  entry.highWatermark = failed || diverges ? -1 : answer.highWatermark
  entry.logStartOffset = logStartOffset
  return hinted || diverges || failed || moved
}

/** Bytes of an answer's records, which come as one piece or several. */
function bytesOf(records: Answer['records']): number {
  if (records === null || records === undefined) return 0
  if (records instanceof Uint8Array) return records.length
  let sum = 0
  for (const piece of records as readonly Uint8Array[]) sum += piece.length
  return sum
}
