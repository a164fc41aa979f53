import { Errors } from '../../../protocol/errors.ts'
import type { AnnouncePod, MoveLease, RenewIncarnations, Result } from '../commands.ts'
import { copyAbout } from '../state/pods.ts'
import { type Context, OK, refused } from './context.ts'

/** Phases of a pod as the state keeps them. */
const PHASES = 3
/** Frozen: part of the rule, so that a faulty proposer cannot swell the state. */
const LISTENERS_MAX = 64
const LEASE_NAME_MAX = 100
const LEASES_MAX = 100

/** What a pod says of itself (L22): the incarnation is the proposer's, so nobody can speak for another. */
export function announcePod({ incarnation }: Context, { about }: AnnouncePod): Result {
  if (about === null || about === undefined || about.phase < 1 || about.phase > PHASES)
    return refused(Errors.INVALID_REQUEST, 'a pod is starting, ready or draining')
  if (about.listeners.length > LISTENERS_MAX) return refused(Errors.INVALID_REQUEST, `a pod has at most ${LISTENERS_MAX} listeners`)
  incarnation!.about = copyAbout(about)
  return OK
}

/** Raises the counters that have not moved since the proposer looked (L6, L23): a proposal that comes late renews nobody. */
export function renewIncarnations({ rooms }: Context, { items }: RenewIncarnations): Result {
  for (const { incarnation, renewals } of items) {
    const known = rooms.podRows.incarnations.get(incarnation)
    if (known?.live === true && known.renewals === renewals) known.renewals++
  }
  return OK
}

/** A convention for speed or against double work (L21, L23): what a holder does is safe when two believe they hold it. */
export function moveLease({ rooms }: Context, { name, owner, term }: MoveLease): Result {
  const { leases, incarnations } = rooms.podRows
  const held = leases.get(name)
  if (name === '' || name.length > LEASE_NAME_MAX) return refused(Errors.INVALID_REQUEST, 'a lease needs a short name')
  if (held === undefined && leases.size >= LEASES_MAX) return refused(Errors.INVALID_REQUEST, 'there are too many leases')
  if ((held?.term ?? 0) !== term) return refused(Errors.INVALID_REQUEST, `the lease "${name}" moved on to term ${held?.term ?? 0}`)
  if (owner !== 0 && incarnations.get(owner)?.live !== true) return refused(Errors.INVALID_REQUEST, `incarnation ${owner} does not live`)
  leases.set(name, { name, owner, term: term + 1 })
  return { kind: 'lease', term: term + 1 }
}
