import { Errors } from '../../../protocol/errors.ts'
import { FrazilError } from '../../base/errors.ts'
import type { FenceIncarnation, RegisterIncarnation, Result, SetLevel } from '../commands.ts'
import type { Incarnation } from '../state/pods.ts'
import { type Context, OK, refused } from './context.ts'

/** The highest feature level that this program understands (L5). */
export const SUPPORTED_LEVEL = 3

/** A process enters (L1, L22). The first registration of all also names the cluster: its nonce is the cluster id. */
export function registerIncarnation({ rooms }: Context, command: RegisterIncarnation): Result {
  const { podRows } = rooms
  const nonce = Buffer.from(command.nonce).toString('hex')
  if (command.pod === '' || command.nonce.length !== 16)
    return refused(Errors.INVALID_REQUEST, 'a registration needs a pod name and 16 random bytes')
  if (command.level < rooms.level)
    return refused(Errors.INVALID_REQUEST, `the cluster is at feature level ${rooms.level}: start a newer program`)
  let pod = podRows.byName.get(command.pod)
  for (const known of podRows.incarnations.values()) {
    if (known.nonce === nonce && known.pod === command.pod)
      return { kind: 'incarnation', incarnation: known.incarnation, nodeId: pod!.nodeId }
  }
  if (command.fenceOlder) for (const known of podRows.incarnations.values()) if (known.pod === command.pod) fence(known)
  const incarnation = podRows.nextIncarnation++
  if (pod === undefined) podRows.byName.set(command.pod, (pod = { name: command.pod, nodeId: podRows.nextNode++, incarnation }))
  pod.incarnation = incarnation
  const { level } = command
  podRows.incarnations.set(incarnation, {
    incarnation,
    pod: command.pod,
    nonce,
    level,
    live: true,
    renewals: 0,
    lastSequence: 0,
    lastWalSequence: 0,
  })
  if (rooms.clusterId === '') rooms.clusterId = Buffer.from(command.nonce).toString('base64url')
  return { kind: 'incarnation', incarnation, nodeId: pod.nodeId }
}

/** Ends an incarnation that the proposer saw silent; one that renewed meanwhile lives on (L6). */
export function fenceIncarnation({ rooms }: Context, command: FenceIncarnation): Result {
  const known = rooms.podRows.incarnations.get(command.incarnation)
  if (known === undefined) return refused(Errors.INVALID_REQUEST, `there is no incarnation ${command.incarnation}`)
  if (known.renewals !== command.renewals) return refused(Errors.INVALID_REQUEST, `incarnation ${command.incarnation} renewed its lease`)
  fence(known)
  return OK
}

/** It lives no more, and nobody is sent to it. */
export function fence(incarnation: Incarnation): void {
  incarnation.live = false
  delete incarnation.about
}

/** Raises the level once every live incarnation supports it (L5). Error: LEVEL_UNKNOWN when this program does not. */
export function setLevel({ rooms, entry }: Context, command: SetLevel): Result {
  const { level } = command
  if (level <= rooms.level) return refused(Errors.INVALID_REQUEST, `the level is ${rooms.level} already`)
  for (const known of rooms.podRows.incarnations.values()) {
    if (known.live && known.level < level) return refused(Errors.INVALID_REQUEST, `pod ${known.pod} supports level ${known.level} only`)
  }
  if (level > SUPPORTED_LEVEL) {
    throw new FrazilError(
      'LEVEL_UNKNOWN',
      `metadata entry ${entry} raises the feature level to ${level}, this program knows ${SUPPORTED_LEVEL}: start a newer one`,
    )
  }
  rooms.level = level
  return OK
}
