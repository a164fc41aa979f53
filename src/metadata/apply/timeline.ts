import { Errors } from '../../../protocol/errors.ts'
import type { ForgetIncarnations, HoldDeletions, OpenTimeline, Result } from '../commands.ts'
import type { Rooms } from '../state/state.ts'
import { type Context, OK, refused } from './context.ts'
import { fence } from './pods.ts'

/** Frozen. */
const HOLD_NAME_MAX = 100
const HOLDS_MAX = 100
const HOLD_MAX_MS = 30 * 86_400_000
/** Frozen: what the other history may have given out since this copy was made. */
const PRODUCER_IDS = 1_000_000_000
const INCARNATIONS = 1_000_000
const LEVEL = 3

/** Holds that ran out go when another is asked for: there are never many. */
export function holdDeletions({ rooms, timeMs }: Context, { name, forMs }: HoldDeletions): Result {
  const { holds } = rooms.deletionRows
  if (name === '' || name.length > HOLD_NAME_MAX) return refused(Errors.INVALID_REQUEST, 'a hold needs a short name')
  if (forMs > HOLD_MAX_MS) return refused(Errors.INVALID_REQUEST, `a hold lasts at most ${HOLD_MAX_MS} ms`)
  const ended = [...holds].filter(([, untilMs]) => untilMs <= timeMs)
  if (forMs > 0 && !holds.has(name) && holds.size - ended.length >= HOLDS_MAX)
    return refused(Errors.INVALID_REQUEST, 'there are too many holds')
  for (const [each] of ended) holds.delete(each)
  if (forMs === 0) holds.delete(name)
  else holds.set(name, timeMs + forMs)
  return OK
}

/**
 * Afterwards such an incarnation is one that was never known and is below the next: it cannot propose, as before, and whatever carries
 * its number is dead. What is still said of it elsewhere (owner of a lease, of a shard) counts as nobody.
 */
export function forgetIncarnations({ rooms }: Context, { incarnations }: ForgetIncarnations): Result {
  const { podRows } = rooms
  for (const incarnation of incarnations)
    if (podRows.incarnations.get(incarnation)?.live === false) podRows.incarnations.delete(incarnation)
  return OK
}

/** See OpenTimeline. Epochs begin where partitions end, so a consumer that read on in the other history is told where they part. */
export function openTimeline({ rooms, entry }: Context, { lastEntry, nonce }: OpenTimeline): Result {
  if (nonce.length !== 16) return refused(Errors.INVALID_REQUEST, 'a timeline needs 16 random bytes')
  if (entry !== lastEntry + 1) return refused(Errors.INVALID_REQUEST, `a timeline behind entry ${lastEntry} cannot begin at ${entry}`)
  for (const incarnation of rooms.podRows.incarnations.values()) fence(incarnation)
  rooms.timeline++
  rooms.clusterId = Buffer.from(nonce).toString('base64url')
  rooms.level = Math.max(rooms.level, LEVEL)
  rooms.nextProducerId += PRODUCER_IDS
  rooms.podRows.nextIncarnation += INCARNATIONS
  rooms.deletionRows.holds.clear()
  raiseEpochs(rooms)
  return OK
}

function raiseEpochs({ topicRows, parts }: Rooms): void {
  for (const { slots } of topicRows.byNumber.values()) {
    for (const slot of slots) {
      const startOffset = parts.endOffset.get(slot)
      const epochs = parts.epochs(slot)
      const { epoch } = epochs[epochs.length - 1]
      // an epoch in which nothing was written leaves no trace
      parts.setEpochs(slot, [...epochs.filter((each) => each.startOffset < startOffset), { epoch: epoch + 1, startOffset }])
    }
  }
}
