import type { Socket } from 'node:net'
import { decodeRequestHeader, ProtocolError } from '../../protocol/index.ts'
import type { Clock, Timer } from '../base/clock.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { BudgetWaiter, MemoryBudget } from './budget.ts'
import { FrameReader } from './frames.ts'
import type { ServerCounters } from './metrics.ts'
import { Output } from './output.ts'
import type { Answer, ConnectionInfo, Dispatch, ServerLimits } from './port.ts'
import { RequestQueue, type Request } from './requests.ts'

/** Reasons not to read; the socket is paused while any holds. */
const IN_FLIGHT = 1
const BUDGET = 2
const UNSENT = 4
const THROTTLED = 8
const ENDING = 16
const QUEUED = 32

const NOTHING = Buffer.alloc(0)
/** A client id may have 32,767 characters; a line of the log shows this many. */
const LOGGED_CLIENT_ID_LENGTH = 200

export interface ConnectionParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly dispatch: Dispatch
  readonly limits: ServerLimits
  readonly budget: MemoryBudget
  readonly counters: ServerCounters
  /** Told of all bytes that come in and go out. */
  readonly moved: (sizeBytes: number) => void
  /** Connections that start nothing but Produce until clients have read their answers. */
  readonly starved: Set<Connection>
}

/**
 * One client: its stream is cut into requests ahead of their turn, within bounds; requests.ts says which of them run;
 * responses leave in the order of the requests (Kafka's clients match them by order).
 */
export class Connection implements BudgetWaiter {
  readonly info: ConnectionInfo
  readonly #socket: Socket
  readonly #parts: ConnectionParts
  readonly #unsentMaxBytes: number
  readonly #reader: FrameReader
  readonly #requests: RequestQueue
  readonly #output: Output
  readonly #abort = new AbortController()
  #accountedBytes = 0
  #pausedFor = 0
  #throttle: Timer | null = null
  #pumping = false
  #closed = false
  #clientId: string | null = null
  #activeMs: number
  /** When the client last took all that its socket had, or had nothing to take. */
  #tookMs: number

  constructor(socket: Socket, info: Omit<ConnectionInfo, 'signal'>, parts: ConnectionParts, onClose: (connection: Connection) => void) {
    this.#socket = socket
    this.#parts = parts
    this.info = { ...info, signal: this.#abort.signal }
    // Below its own mark a socket tells nobody that it has drained.
    this.#unsentMaxBytes = Math.max(parts.limits.unsentBytes, socket.writableHighWaterMark)
    this.#reader = new FrameReader(parts.limits.requestMaxBytes)
    this.#requests = new RequestQueue((deltaBytes) => parts.budget.changeRunning(deltaBytes))
    this.#output = new Output(
      socket,
      () => this.#onProgress(),
      (deltaBytes) => this.#onQueued(deltaBytes),
    )
    this.#activeMs = parts.clock.monotonicMs()
    this.#tookMs = this.#activeMs
    socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    socket.on('end', () => this.#onEnd())
    socket.on('error', (error) => parts.logger.debug({ ...this.#fields(), err: error }, 'connection failed'))
    socket.on('close', () => {
      this.#onClose()
      onClose(this)
    })
  }

  get paused(): boolean {
    return this.#pausedFor !== 0
  }

  /** Requests that are read and not answered. */
  get inFlight(): number {
    return this.#requests.length
  }

  /** Since when (monotonic clock) nothing arrived, left or ran; Infinity while a request runs. */
  get idleSinceMs(): number {
    return this.#requests.running > 0 ? Infinity : this.#activeMs
  }

  /** Since when (monotonic clock) the client has not taken an answer that waits for it; Infinity when none does. */
  get stalledSinceMs(): number {
    return this.#output.unsentBytes > 0 ? this.#tookMs : Infinity
  }

  /** MemoryBudget: read on. */
  wake(): void {
    this.#unpause(BUDGET)
  }

  /** Takes no more; what runs is answered, long polls at once; then the connection closes. */
  shutDown(): void {
    if (this.#closed) return
    this.#pause(ENDING)
    this.#requests.dropWaiting(false)
    this.#account()
    this.#abort.abort()
    this.#endWhenDone()
  }

  /** Closes at once, with a line in the log when there is a reason to tell. */
  destroy(reason: string | null): void {
    if (reason !== null && !this.#socket.destroyed) this.#parts.logger.warn(this.#fields(), `connection closed: ${reason}`)
    this.#socket.destroy()
  }

  #onData(chunk: Buffer): void {
    this.#parts.counters.receivedBytes += chunk.length
    this.#parts.moved(chunk.length)
    this.#activeMs = this.#parts.clock.monotonicMs()
    if ((this.#pausedFor & ENDING) !== 0) return
    this.#reader.feed(chunk)
    this.#advance()
    if ((this.#pausedFor & ENDING) === 0 && this.#parts.budget.mustWait(this)) this.#pause(BUDGET)
  }

  /** Cuts requests from what has arrived, as far as the bounds allow, and starts what may start. */
  #advance(): void {
    if ((this.#pausedFor & ENDING) === 0) {
      try {
        this.#cut()
      } catch (error) {
        if (!(error instanceof FrazilError)) throw error
        this.#pausedFor |= ENDING
        return this.destroy(error.message)
      }
    }
    this.#account()
    this.#pump()
  }

  #cut(): void {
    for (;;) {
      const sizeBytes = this.#reader.nextSizeBytes()
      if (sizeBytes < 0) break
      const heldBytes = this.#requests.sizeBytes
      if (heldBytes > 0 && heldBytes + sizeBytes > this.#parts.limits.connectionInFlightBytes) return this.#pause(IN_FLIGHT)
      const frame = this.#reader.take()
      if (frame === null) break
      this.#requests.push(frame)
      this.#parts.budget.whole(this)
    }
    this.#unpause(IN_FLIGHT)
  }

  #pump(): void {
    if (this.#pumping) return // a request that is refused at once comes back here
    this.#pumping = true
    while (this.#requests.startable && (this.#pausedFor & THROTTLED) === 0) {
      if (!this.#closed && this.#output.unsentBytes > this.#unsentMaxBytes) {
        this.#pause(UNSENT)
        break
      }
      if (!this.#requests.startsProduce && this.#parts.counters.queuedBytes > this.#parts.limits.queuedBytes && !this.#closed) {
        this.#parts.starved.add(this)
        this.#pause(QUEUED)
        break
      }
      this.#run(this.#requests.start())
    }
    this.#pumping = false
  }

  #run(request: Request): void {
    let answer: ReturnType<Dispatch>
    try {
      const header = decodeRequestHeader(request.frame)
      this.#clientId = header.clientId?.slice(0, LOGGED_CLIENT_ID_LENGTH) ?? null
      answer = this.#parts.dispatch(this.info, header, request.frame)
    } catch (error) {
      return this.#onRefused(request, error)
    }
    answer.then(
      (outcome) => this.#onSettled(request, outcome),
      (error: unknown) => this.#onRefused(request, error),
    )
  }

  #onRefused(request: Request, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    const fields = error instanceof ProtocolError ? this.#fields() : { ...this.#fields(), err: error }
    this.#parts.logger.warn(fields, `connection closed: ${reason}`)
    this.#onSettled(request, 'close')
  }

  #onSettled(request: Request, outcome: Answer | null | 'close'): void {
    request.outcome = outcome
    for (let next = this.#requests.takeSettled(); next !== null; next = this.#requests.takeSettled()) this.#send(next.outcome)
    this.#activeMs = this.#parts.clock.monotonicMs()
    this.#advance()
    this.#endWhenDone()
  }

  #send(outcome: Request['outcome']): void {
    if (outcome === 'close') {
      this.#pause(ENDING)
      this.#requests.dropAll()
    } else if (outcome !== null && outcome !== 'pending' && !this.#closed) {
      this.#parts.counters.sentBytes += outcome.sizeBytes
      this.#parts.moved(outcome.sizeBytes)
      if (this.#output.unsentBytes === 0) this.#tookMs = this.#parts.clock.monotonicMs()
      this.#output.push(outcome.chunks)
      if (outcome.throttleMs !== undefined && outcome.throttleMs > 0) this.#mute(outcome.throttleMs)
    }
  }

  /** KIP-219: the response goes out, and what the client sends next waits. */
  #mute(throttleMs: number): void {
    this.#throttle?.cancel()
    this.#pause(THROTTLED)
    this.#throttle = this.#parts.clock.timer(throttleMs, () => {
      this.#throttle = null
      this.#unpause(THROTTLED)
      this.#advance()
    })
  }

  #onQueued(deltaBytes: number): void {
    const { counters, starved, limits } = this.#parts
    counters.queuedBytes += deltaBytes
    if (starved.size === 0 || counters.queuedBytes > limits.queuedBytes) return
    const woken = [...starved]
    starved.clear()
    for (const connection of woken) setImmediate(() => connection.goOn())
  }

  /** Answers of others have been read: go on. */
  goOn(): void {
    if (this.#closed) return
    this.#unpause(QUEUED)
    this.#advance()
  }

  /** The socket has taken what it was given. */
  #onProgress(): void {
    this.#activeMs = this.#parts.clock.monotonicMs()
    this.#tookMs = this.#activeMs
    if (this.#closed || this.#output.unsentBytes > this.#unsentMaxBytes) return
    this.#unpause(UNSENT)
    this.#advance()
  }

  /** The client sends no more. Long polls end; what is here is still worked off, and answered should the client read. */
  #onEnd(): void {
    this.#pausedFor |= ENDING
    this.#abort.abort()
    this.#endWhenDone()
  }

  #endWhenDone(): void {
    if (!this.#closed && (this.#pausedFor & ENDING) !== 0 && this.#requests.length === 0) this.#output.end()
  }

  /** Produce requests that arrived whole are still applied: with acks 0 a client sends and leaves. */
  #onClose(): void {
    this.#closed = true
    this.#pausedFor = ENDING
    this.#throttle?.cancel()
    this.#output.clear()
    this.#requests.dropWaiting(true)
    this.#abort.abort()
    this.#account()
    this.#parts.budget.leave(this)
    this.#parts.starved.delete(this)
    this.#reader.feed(NOTHING)
    this.#pump()
  }

  /** Tells the budget what this connection holds. */
  #account(): void {
    const heldBytes = this.#requests.sizeBytes + (this.#closed ? 0 : this.#reader.heldBytes)
    const deltaBytes = heldBytes - this.#accountedBytes
    if (deltaBytes === 0) return
    this.#accountedBytes = heldBytes
    this.#parts.budget.change(deltaBytes)
  }

  #pause(reason: number): void {
    if (this.#pausedFor === 0) this.#socket.pause()
    this.#pausedFor |= reason
  }

  #unpause(reason: number): void {
    if ((this.#pausedFor & reason) === 0) return
    this.#pausedFor &= ~reason
    if (this.#pausedFor === 0) this.#socket.resume()
  }

  #fields(): object {
    const { id, clientHost, listener } = this.info
    return { connection: id, clientHost, listener, clientId: this.#clientId ?? '' }
  }
}
