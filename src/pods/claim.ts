import type { Clock } from '../base/clock.ts'
import { FrazilError, hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { PodView } from '../metadata/view.ts'
import { decodeMessage, encodeMessage, type Message } from './messages.ts'
import type { PeerNetwork, PodTimings } from './port.ts'

export interface ClaimOptions {
  readonly metadata: Metadata
  readonly pod: string
  readonly network: PeerNetwork | null
  readonly clock: Clock
  readonly logger: Logger
  readonly timings: PodTimings
}

/**
 * Makes sure that no other process runs under this pod's name (L22): an older incarnation that answers, or that renews itself, is alive, and
 * this process must not go on (STORE_IN_USE). One that does neither is fenced. Nothing is served before.
 */
export async function claimIdentity(options: ClaimOptions): Promise<void> {
  const { metadata, pod, logger } = options
  await metadata.barrier()
  const live = Array.from(metadata.state.livePods())
  for (const other of live) {
    if (other.pod !== pod || other.incarnation === metadata.incarnation) continue
    if (other.incarnation > metadata.incarnation) throw inUse(pod)
    const answer = await ask(other, options)
    if (answer === 'alive') throw inUse(pod)
    if (answer === 'silent') {
      if (await renewed(other, options)) throw inUse(pod)
      await renewSelf(metadata)
    }
    const renewals = [...metadata.state.livePods()].find((each) => each.incarnation === other.incarnation)?.renewals
    if (renewals === undefined) continue
    const result = await metadata.propose({ kind: 'fenceIncarnation', incarnation: other.incarnation, renewals })
    if (result.kind === 'refused' && metadata.state.incarnation(other.incarnation)?.live === true) throw inUse(pod)
    logger.info({ incarnation: other.incarnation, answer }, 'an earlier process of this pod ended without saying so: it was fenced')
  }
}

function inUse(pod: string): FrazilError {
  return new FrazilError(
    'STORE_IN_USE',
    `pod: another process runs as "${pod}" on this store; give each process a name of its own with --pod, or end the other one`,
  )
}

/** 'gone' when its address refuses: a process that ended without a word. */
async function ask(other: PodView, { metadata, network, clock, pod, timings }: ClaimOptions): Promise<'alive' | 'gone' | 'silent'> {
  const address = other.about?.peer ?? ''
  if (network === null || address === '') return 'silent'
  try {
    const link = await network.dial(address)
    try {
      return await new Promise<'alive' | 'silent'>((resolve) => {
        const timer = clock.timer(timings.heartbeatMs * timings.suspectBeats, () => resolve('silent'))
        const settle = (answer: 'alive' | 'silent'): void => {
          timer.cancel()
          resolve(answer)
        }
        link.onClose = () => settle('silent')
        link.onMessage = (bytes) => settle(isIt(decodeMessage(bytes), other.incarnation) ? 'alive' : 'silent')
        const { incarnation, state } = metadata
        link.send(encodeMessage({ type: 'hello', clusterId: state.clusterId, pod, incarnation }))
      })
    } finally {
      link.close()
    }
  } catch (error) {
    return hasCode(error, 'REFUSED') ? 'gone' : 'silent'
  }
}

function isIt(message: Message | null, incarnation: number): boolean {
  return message?.type === 'hello' && message.incarnation === incarnation
}

/** Others counted the wait as silence of this process, which renews itself only once it has joined. */
async function renewSelf(metadata: Metadata): Promise<void> {
  const items = [...metadata.state.livePods()]
    .filter(({ incarnation }) => incarnation === metadata.incarnation)
    .map(({ incarnation, renewals }) => ({ incarnation, renewals }))
  await metadata.propose({ kind: 'renewIncarnations', items })
}

/** Watches its counter for as long as a living one would need to move it. */
async function renewed(other: PodView, { metadata, clock, timings, logger }: ClaimOptions): Promise<boolean> {
  const waitMs = timings.renewMs * 2
  logger.info(
    { incarnation: other.incarnation, waitMs },
    'an earlier process of this pod may still run: waiting whether it renews its lease',
  )
  const untilMs = clock.monotonicMs() + waitMs
  for (;;) {
    await metadata.barrier()
    const now = [...metadata.state.livePods()].find((each) => each.incarnation === other.incarnation)
    if (now === undefined) return false
    if (now.renewals !== other.renewals) return true
    const leftMs = untilMs - clock.monotonicMs()
    if (leftMs <= 0) return false
    await clock.sleep(Math.min(leftMs, timings.renewMs / 4))
  }
}
