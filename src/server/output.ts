import type { Socket } from 'node:net'

/** Bytes handed to the socket ahead of the peer's reading. */
const WRITE_AHEAD_BYTES = 256 * 1024

/**
 * Responses on their way out: chunks are handed to the socket as they are, several in one writev, and no further than a
 * little ahead of what the peer reads. A slow reader leaves them here, where they are references, not copies.
 */
export class Output {
  readonly #socket: Socket
  readonly #onProgress: () => void
  readonly #onQueued: (deltaBytes: number) => void
  #chunks: Uint8Array[] = []
  #next = 0
  #queuedBytes = 0
  #accountedBytes = 0
  #scheduled = false
  #ending = false

  /** `onProgress` is called whenever the socket has taken what it was given; `onQueued` hears how much waits here. */
  constructor(socket: Socket, onProgress: () => void, onQueued: (deltaBytes: number) => void = () => {}) {
    this.#socket = socket
    this.#onProgress = onProgress
    this.#onQueued = onQueued
    socket.on('drain', () => {
      this.#flush()
      this.#onProgress()
    })
  }

  /** Response bytes that the kernel has not taken. */
  get unsentBytes(): number {
    return this.#queuedBytes + this.#socket.writableLength
  }

  /** Queues a frame. Frames of one turn of the event loop go out together. */
  push(chunks: readonly Uint8Array[]): void {
    for (const chunk of chunks) {
      if (chunk.length === 0) continue
      this.#chunks.push(chunk)
      this.#queuedBytes += chunk.length
    }
    this.#account()
    if (this.#scheduled) return
    this.#scheduled = true
    process.nextTick(() => this.#flush())
  }

  /** Closes the socket once everything is out. */
  end(): void {
    this.#ending = true
    if (!this.#scheduled) this.#flush()
  }

  /** Forgets what is queued: the socket is gone. */
  clear(): void {
    this.#forget()
    this.#account()
  }

  #forget(): void {
    this.#chunks = []
    this.#next = 0
    this.#queuedBytes = 0
  }

  /** Tells how much waits. What is below the socket's own mark counts for nothing: it tells nobody when that is gone. */
  #account(): void {
    const { destroyed, writableLength, writableHighWaterMark } = this.#socket
    const waitingBytes = this.#queuedBytes + (destroyed || writableLength < writableHighWaterMark ? 0 : writableLength)
    if (waitingBytes === this.#accountedBytes) return
    this.#onQueued(waitingBytes - this.#accountedBytes)
    this.#accountedBytes = waitingBytes
  }

  #flush(): void {
    this.#scheduled = false
    const socket = this.#socket
    if (socket.destroyed) return this.clear()
    if (this.#next < this.#chunks.length && socket.writableLength < WRITE_AHEAD_BYTES) {
      socket.cork()
      while (this.#next < this.#chunks.length && socket.writableLength < WRITE_AHEAD_BYTES) {
        const chunk = this.#chunks[this.#next++]
        this.#queuedBytes -= chunk.length
        socket.write(chunk)
      }
      socket.uncork()
      if (this.#next === this.#chunks.length) this.#forget()
      else if (this.#next > 64) {
        this.#chunks = this.#chunks.slice(this.#next)
        this.#next = 0
      }
    }
    this.#account()
    if (this.#ending && this.#queuedBytes === 0) socket.destroySoon()
  }
}
