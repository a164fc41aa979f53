import { WAL_GRACE_CONFIG, WAL_GRACE_MS } from '../metadata/apply/context.ts'
import type { Metadata } from '../metadata/port.ts'

/**
 * Makes `--wal-grace-ms` what the state machine goes by when it queues a WAL object that nobody needs any more: `apply`
 * reads no settings of a process, so it is a cluster-wide config. Proposes only when it is another one.
 */
export async function setWalGrace(metadata: Metadata, graceMs: number): Promise<void> {
  const now = Number(metadata.state.brokerConfigs('').get(WAL_GRACE_CONFIG) ?? WAL_GRACE_MS)
  if (now === graceMs) return
  await metadata.propose({ kind: 'alterConfigs', target: { broker: '' }, set: { [WAL_GRACE_CONFIG]: String(graceMs) }, remove: [] })
}
