import type { RawEntry } from './entryLog.ts'
import type { Metadata } from './port.ts'

/** Proposals of one incarnation with consecutive sequences, as they travel to the pod that writes the log now (L1, L21). */
export interface Forwarded {
  readonly incarnation: number
  readonly firstSequence: number
  /** Encoded commands (codec.ts encodeCommand). */
  readonly proposals: readonly Uint8Array[]
}

/** What became of forwarded proposals as far as the other pod knows; `written` names the entry that holds all of them. */
export type ForwardOutcome = { readonly kind: 'written'; readonly entry: number } | { readonly kind: 'unknown' }

/**
 * The way to the pod that writes the log now. For speed only (L21): whatever it answers, or if it never does, the engine decides by what
 * the log says, and writes the entry itself. pods/ has the real one.
 */
export interface Relay {
  /** null: write it yourself. Never rejects; ends within a bounded time. */
  forward(forwarded: Forwarded): Promise<ForwardOutcome> | null
}

/** What pods/ wants of an engine whose log other pods write too. */
export interface SharedMetadata extends Metadata {
  /** From now on groups go to the pod that writes the log, when the relay knows one (L21). */
  useRelay(relay: Relay | null): void
  /** Calls with every entry that this process wrote, once it is durable: for streaming to peers. Returns what ends it. */
  onWritten(listener: (raw: RawEntry) => void): () => void
  /**
   * Takes an entry that a peer streamed; applied in order and with the right chain only (L3, L21). False when entries before it are
   * missing or it does not follow: then the log has to be asked (`barrier`).
   */
  offer(raw: RawEntry): boolean
  /** The last entry of this incarnation fences it, so that nobody waits for its lease to run out (L22); the engine takes nothing more. */
  retire(): Promise<void>
  /**
   * Writes proposals of another pod with ours, in their order, once (L1); resolves with an entry at or behind the one that holds them.
   * Errors: REFUSED for what no reader of the log could decode; as propose.
   */
  proposeForwarded(forwarded: Forwarded): Promise<number>
  /** Looks at the end of the log now: somebody wrote there. */
  wake(): void
  /** While a peer streams entries here, the end of the log is looked at rarely (L23). */
  streaming(healthy: boolean): void
}

/** Entries that peers streamed ahead of the log, kept until their turn. Bounded: what does not fit comes from the log. */
export class Offers {
  readonly #maxBytes: number
  readonly #entries = new Map<number, RawEntry>()
  #bytes = 0

  constructor(maxBytes = 32 << 20) {
    this.#maxBytes = maxBytes
  }

  put(raw: RawEntry): void {
    if (this.#entries.has(raw.number) || this.#bytes + raw.bytes.length > this.#maxBytes) return
    this.#entries.set(raw.number, raw)
    this.#bytes += raw.bytes.length
  }

  /** Takes entry `number` out, and drops everything below it. */
  take(number: number): RawEntry | null {
    const raw = this.#entries.get(number) ?? null
    for (const held of this.#entries.keys()) if (held <= number) this.#drop(held)
    return raw
  }

  get waiting(): boolean {
    return this.#entries.size > 0
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #drop(number: number): void {
    this.#bytes -= this.#entries.get(number)!.bytes.length
    this.#entries.delete(number)
  }
}
