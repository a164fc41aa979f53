import { randomBytes } from 'node:crypto'
import type { Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import { hostPort } from '../base/config/load.ts'
import type { Settings } from '../base/config/settings.ts'
import { FrazilError, hasCode } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import { raiseLevel } from '../metadata/open.ts'
import type { SharedMetadata } from '../metadata/relay.ts'
import { Pods } from '../pods/pods.ts'
import { TcpNetwork } from '../pods/tcp.ts'
import type { Listener } from '../server/listeners.ts'
import type { ObjectStore } from '../storage/store.ts'
import { POD_SECRET_KEY } from './stores.ts'

const SECRET_BYTES = 32
const TRIES = 5

export interface OpenPodsOptions {
  readonly settings: Settings
  readonly metadata: SharedMetadata
  readonly store: ObjectStore
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  /** Listeners for clients, for the host when `--pod-listener` names none. */
  readonly listeners: readonly Listener[]
  readonly cached: (object: number, start: number, end: number) => Uint8Array | null
}

/** The pods that share the log, this one among them, its name claimed (L22). Errors: SETTING_INVALID, STORE_IN_USE, STORE_…. */
export async function openPods(options: OpenPodsOptions): Promise<Pods> {
  const { settings, metadata, store, clock, logger, registry, listeners, cached } = options
  const secret = settings.podSecret === '' ? await sharedSecret(store) : Buffer.from(settings.podSecret, 'utf8')
  const bound = settings.podListener === '' ? { host: listeners[0]!.host, port: 0 } : hostPort('pod-listener', settings.podListener)
  const advertised =
    settings.advertisedPodListener === ''
      ? { host: clientHost(settings, listeners), port: 0 }
      : hostPort('advertised-pod-listener', settings.advertisedPodListener)
  const network = new TcpNetwork({ ...bound, advertised, secret, random: randomBytes, clock, logger })
  const pods = new Pods({
    metadata,
    raiseLevel: () => raiseLevel(metadata),
    pod: settings.pod,
    network,
    clock,
    logger,
    registry,
    random: Math.random,
    cached,
  })
  try {
    await pods.claim()
  } catch (error) {
    await metadata.retire().catch(() => undefined) // the first error is the one to tell
    await pods.close()
    throw error
  }
  return pods
}

/** The host under which clients reach this pod: other pods are likely to reach it there as well. */
function clientHost(settings: Settings, listeners: readonly Listener[]): string {
  const match = /:\/\/(?:\[([^\]]+)\]|([^:,]*)):/.exec(settings.advertisedListeners)
  const host = match?.[1] ?? match?.[2] ?? listeners[0]!.host
  if (host === '' || host === '0.0.0.0' || host === '::') {
    throw new FrazilError(
      'SETTING_INVALID',
      'advertised-pod-listener: other pods need an address to reach this one; set it, or advertised-listeners',
    )
  }
  return host
}

/** Errors: STORE_…. */
async function sharedSecret(store: ObjectStore): Promise<Uint8Array> {
  for (let left = TRIES; ; left--) {
    try {
      return (await store.get(POD_SECRET_KEY, { reason: 'metadata' })).body
    } catch (error) {
      if (!hasCode(error, 'STORE_NOT_FOUND') || left === 0) throw error
    }
    await store.putIfAbsent(POD_SECRET_KEY, randomBytes(SECRET_BYTES), { reason: 'metadata' }).catch((error: unknown) => {
      if (!hasCode(error, 'STORE_UNKNOWN')) throw error // what is there is read back
    })
  }
}
