import { createHash } from 'node:crypto'
import { RE2JS } from 're2js'
import type { ConsumerMember } from '../../metadata/commands.ts'
import type { StateView } from '../../metadata/view.ts'

/** A longer one can take seconds to compile. */
const PATTERN_MAX_LENGTH = 4096

/** Why a pattern is none (RE2 syntax, KIP-848), or null. */
export function patternProblem(regex: string): string | null {
  if (regex.length > PATTERN_MAX_LENGTH) return `SubscribedTopicRegex has ${regex.length} characters, over ${PATTERN_MAX_LENGTH}.`
  try {
    RE2JS.compile(regex)
    return null
  } catch (error) {
    return `SubscribedTopicRegex \`${regex}\` is not a valid regular expression: ${(error as Error).message}.`
  }
}

/** A number that goes up when topics come, go or get more partitions, so that groups look at their subscriptions again only then. */
export class TopicsVersion {
  readonly #state: StateView
  #seen = ''
  #dirty = true
  #version = 0

  constructor(state: StateView) {
    this.#state = state
  }

  /** Something else than appends happened in the log. */
  touch(): void {
    this.#dirty = true
  }

  /** Topic numbers are never used again and partitions are never taken away, so these three numbers say it all. */
  get value(): number {
    if (!this.#dirty) return this.#version
    this.#dirty = false
    let count = 0
    let newest = 0
    let partitions = 0
    for (const topic of this.#state.topics()) {
      count++
      newest = Math.max(newest, topic.topic)
      partitions += topic.partitions
    }
    const seen = `${count} ${newest} ${partitions}`
    if (seen !== this.#seen) this.#version++
    this.#seen = seen
    return this.#version
  }
}

/** Which topics the members of one group subscribe to; patterns are matched again when topics changed. */
export class Subscriptions {
  readonly #state: StateView
  readonly #version: TopicsVersion
  readonly #matches = new Map<string, readonly string[]>()
  #matchedVersion = -1

  constructor(state: StateView, version: TopicsVersion) {
    this.#state = state
    this.#version = version
  }

  /** Names of topics that exist, sorted. */
  of({ topics, regex }: ConsumerMember): readonly string[] {
    const names = new Set(topics.filter((name) => this.#state.topicByName(name) !== null))
    if (regex !== null) for (const name of this.#matching(regex)) names.add(name)
    return [...names].sort()
  }

  /** Whether a member subscribes to an existing topic. */
  includes({ topics, regex }: ConsumerMember, topicId: string): boolean {
    const name = this.#state.topicById(topicId)?.name
    return name !== undefined && (topics.includes(name) || (regex !== null && this.#matching(regex).includes(name)))
  }

  #matching(regex: string): readonly string[] {
    const version = this.#version.value
    if (version !== this.#matchedVersion) this.#matches.clear()
    this.#matchedVersion = version
    const known = this.#matches.get(regex)
    if (known !== undefined) return known
    const pattern = RE2JS.compile(regex)
    const names: string[] = []
    for (const { name } of this.#state.topics()) if (pattern.matches(name)) names.push(name)
    this.#matches.set(regex, names)
    return names
  }

  /** A member may change its pattern as often as it likes. */
  #forgetUnused(members: readonly ConsumerMember[]): void {
    const used = new Set(members.map(({ regex }) => regex))
    for (const regex of this.#matches.keys()) if (!used.has(regex)) this.#matches.delete(regex)
  }

  /** Of all topics subscribed to: names, ids and numbers of partitions. Another hash means other targets. */
  hash(members: readonly ConsumerMember[]): string {
    this.#forgetUnused(members)
    const names = new Set<string>()
    for (const member of members) for (const name of this.of(member)) names.add(name)
    const hash = createHash('sha256')
    for (const name of [...names].sort()) {
      const topic = this.#state.topicByName(name)
      if (topic !== null) hash.update(`${name} ${topic.topicId} ${topic.partitions}\n`)
    }
    return hash.digest('hex').slice(0, 16)
  }
}
