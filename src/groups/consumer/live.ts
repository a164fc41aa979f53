import type { Clock, Timer } from '../../base/clock.ts'
import type { ConsumerMember } from '../../metadata/commands.ts'
import type { Draft } from './draft.ts'
import type { Subscriptions } from './subscriptions.ts'

/** What a member of the classic protocol was told to do, and has its rebalance timeout for. */
export type WaitKind = 'join' | 'sync'

/** A request that waits for its turn at a group. */
export interface Task {
  /** Changes the draft. What it returns is kept for `finish`. */
  readonly enter: (draft: Draft) => void
  /** After the targets are known: the last changes. */
  readonly finish: (draft: Draft) => void
  /** Everything is durable (NONE), or nothing is, or it is not known. Throws nothing. */
  readonly done: (error: number) => void
  readonly reject: (error: unknown) => void
}

/** What a process keeps of a consumer group in memory: what waits, and timers. Everything else is in the metadata log (L19). */
export class LiveGroup {
  readonly groupId: string
  readonly subscriptions: Subscriptions
  readonly queue: Task[] = []
  isWorking = false
  isDead = false
  /** Version of the topics that the subscriptions were last compared with. */
  checkedVersion = -1
  readonly #clock: Clock
  readonly #sessions = new Map<string, Timer>()
  readonly #waits: Readonly<Record<WaitKind, Map<string, Timer>>> = { join: new Map(), sync: new Map() }
  readonly #revocations = new Map<string, { readonly epoch: number; readonly timer: Timer }>()

  constructor(groupId: string, clock: Clock, subscriptions: Subscriptions) {
    this.groupId = groupId
    this.#clock = clock
    this.subscriptions = subscriptions
  }

  get isBusy(): boolean {
    return this.isWorking || this.queue.length > 0
  }

  restartSession(memberId: string, timeoutMs: number, expired: () => void): void {
    this.#sessions.get(memberId)?.cancel()
    const timer = this.#clock.timer(timeoutMs, () => {
      if (this.#sessions.get(memberId) === timer) this.#sessions.delete(memberId)
      expired()
    })
    this.#sessions.set(memberId, timer)
  }

  hasSession(memberId: string): boolean {
    return this.#sessions.has(memberId)
  }

  /** One that runs already runs on. */
  await(kind: WaitKind, memberId: string, timeoutMs: number, expired: () => void): void {
    const timers = this.#waits[kind]
    if (timers.has(memberId)) return
    const timer = this.#clock.timer(timeoutMs, () => {
      timers.delete(memberId)
      expired()
    })
    timers.set(memberId, timer)
  }

  came(kind: WaitKind, memberId: string): void {
    this.#waits[kind].get(memberId)?.cancel()
    this.#waits[kind].delete(memberId)
  }

  /** Of a member that must give up partitions: it has its rebalance timeout for that, counted from its first hearing of it. */
  followRevocation(member: ConsumerMember, expired: (epoch: number) => void): void {
    const { memberId, epoch, phase, rebalanceTimeoutMs } = member
    const known = this.#revocations.get(memberId)
    // Members of the classic protocol are watched by `await`.
    const mustRevoke = phase === 1 && !member.classic
    if (mustRevoke && known?.epoch === epoch) return
    known?.timer.cancel()
    this.#revocations.delete(memberId)
    if (!mustRevoke) return
    const timer = this.#clock.timer(rebalanceTimeoutMs, () => {
      this.#revocations.delete(memberId)
      expired(epoch)
    })
    this.#revocations.set(memberId, { epoch, timer })
  }

  forgetMember(memberId: string): void {
    this.#sessions.get(memberId)?.cancel()
    this.#sessions.delete(memberId)
    this.#revocations.get(memberId)?.timer.cancel()
    this.#revocations.delete(memberId)
    this.came('join', memberId)
    this.came('sync', memberId)
  }

  /** Stops all timers and answers everything that waits. */
  die(error: number): void {
    this.isDead = true
    for (const timer of this.#sessions.values()) timer.cancel()
    for (const { timer } of this.#revocations.values()) timer.cancel()
    for (const timers of Object.values(this.#waits)) {
      for (const timer of timers.values()) timer.cancel()
      timers.clear()
    }
    this.#sessions.clear()
    this.#revocations.clear()
    for (const task of this.queue.splice(0)) task.done(error)
  }
}
