/** A connection to another pod: whole messages, in order, or closed. Nobody is told what was lost with it. */
export interface PeerLink {
  /** False when the message was dropped: the link is closed, or more waits than it takes. */
  send(message: Uint8Array): boolean
  /** Set once; messages that came before wait for it. */
  onMessage: (message: Buffer) => void
  /** Called once, also after `close`. */
  onClose: () => void
  close(): void
}

/** How pods reach each other; tcp.ts is the real one, a simulation has its own. */
export interface PeerNetwork {
  /** Accepts links; resolves with the address under which other pods reach this one. */
  listen(accept: (link: PeerLink) => void): Promise<string>
  /**
   * Errors: REFUSED when nobody listens there (the process is gone, or was never there); CLOSED for everything else: unreachable, too
   * slow, another secret.
   */
  dial(address: string): Promise<PeerLink>
  close(): Promise<void>
}

/** How long things take among pods. Milliseconds; none of them decides what is true (L6, L21). */
export interface PodTimings {
  /** Between two heartbeats of a link. Silence is counted in them, so that a pod that was paused suspects nobody. */
  readonly heartbeatMs: number
  /** Heartbeats that may be missing before a pod is suspected: clients are sent elsewhere, the log lease is taken. Twice as many: its shards. */
  readonly suspectBeats: number
  /** Between two renewals of an incarnation (L23). */
  readonly renewMs: number
  /** Renewals of ours during which another incarnation renewed nothing, after which it is fenced (L6). */
  readonly expireRenewals: number
  /** How long a forwarded proposal may take while the link is alive. */
  readonly forwardMs: number
  /** How long a peer's cache may take to answer. */
  readonly readMs: number
  /** Between two looks at the owners of coordinator shards. */
  readonly balanceMs: number
  /** How long a fenced incarnation stays in the state. */
  readonly forgetMs: number
}

export const DEFAULT_TIMINGS: PodTimings = {
  heartbeatMs: 1000,
  suspectBeats: 5,
  renewMs: 10_000,
  expireRenewals: 3,
  forwardMs: 20_000,
  readMs: 200,
  balanceMs: 2000,
  forgetMs: 3_600_000,
}
