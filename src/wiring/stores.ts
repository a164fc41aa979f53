import { randomUUID } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Clock } from '../base/clock.ts'
import type { Settings } from '../base/config/settings.ts'
import { FrazilError } from '../base/errors.ts'
import type { Logger } from '../base/log.ts'
import type { EntryLog } from '../metadata/entryLog.ts'
import { FolderLog } from '../metadata/logs/folderLog.ts'
import { PgLog } from '../metadata/logs/pgLog.ts'
import { isPg, parsePg } from '../metadata/logs/pgSpec.ts'
import { StoreLog } from '../metadata/logs/storeLog.ts'
import { FolderStore } from '../storage/folder.ts'
import { lockFolder, type FolderLock } from '../storage/lock.ts'
import type { RequestCounter } from '../storage/metrics.ts'
import { claimStore, CLUSTER_KEY } from '../storage/s3/claim.ts'
import { probeStore } from '../storage/s3/probe.ts'
import { S3Store } from '../storage/s3/store.ts'
import { storeSpec } from '../storage/spec.ts'
import type { ObjectStore, StoreSpec } from '../storage/store.ts'

/** Made by the first pod of a cluster; whoever may write the metadata log may read it. */
export const POD_SECRET_KEY = 'meta/pod-secret'

export interface StoresOptions {
  readonly settings: Settings
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: RequestCounter
  /** For what the AWS SDK takes from it. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** The store of the bytes and the log of the metadata, opened; the log is opened by who reads it. */
export interface Stores {
  readonly spec: StoreSpec
  readonly store: ObjectStore
  readonly log: EntryLog
  /** Where the log is, when its entries are objects of a bucket. */
  readonly logStore: ObjectStore | null
  /** Once the log is open and its cluster known: clears what dead processes left, binds the store to the cluster. */
  settle(clusterId: string): Promise<void>
  /** Of a copy: it is bound to no cluster any more, and the secret of the pods that wrote it is not its own. */
  forget(): Promise<void>
  close(): Promise<void>
}

/** A place that cannot be used is told with the setting that names it. */
async function named<T>(setting: string, opening: Promise<T>): Promise<T> {
  try {
    return await opening
  } catch (error) {
    if (error instanceof FrazilError) throw new FrazilError(error.code, `${setting}: ${error.message}`, error)
    throw error
  }
}

/** Opens what `--store` and `--metadata` name. Errors: SETTING_INVALID, STORE_IN_USE, REFUSED (a store that keeps no conditions), STORE_…. */
export async function openStores(options: StoresOptions): Promise<Stores> {
  const { settings, clock, logger, metrics, environment } = options
  const placeOf = (setting: string, text: string): ReturnType<typeof storeSpec> => {
    const spec = storeSpec(setting, text, settings, environment)
    return spec.kind === 'folder' ? { ...spec, path: resolve(spec.path) } : spec
  }
  const spec = placeOf('store', settings.store)
  const postgres = isPg(settings.metadata) ? parsePg('metadata', settings.metadata) : null
  const metadataSpec = settings.metadata === '' || postgres !== null ? spec : placeOf('metadata', settings.metadata)
  const open = async (setting: string, place: typeof spec): Promise<FolderStore | S3Store> => {
    if (place.kind === 'folder') return new FolderStore({ path: place.path, fsync: place.fsync, clock, logger, metrics })
    const store = new S3Store({ spec: place, clock, logger, metrics })
    await named(setting, probeStore(store, randomUUID()))
    return store
  }
  const store = await open('store', spec)
  const metadataStore = samePlace(spec, metadataSpec) ? store : await open('metadata', metadataSpec)
  let lock: FolderLock | null = null
  if (store instanceof FolderStore) {
    // the log in a folder locks its own
    if (metadataStore !== store || postgres !== null) lock = await named('store', lockFolder(store.root, settings.pod, { clock }))
    await named('store', store.open())
  }
  if (metadataStore !== store && metadataStore instanceof FolderStore) await named('metadata', metadataStore.open())
  const openLog = (): EntryLog => {
    if (postgres !== null) return new PgLog({ spec: postgres, clock, logger, fsync: settings.fsync })
    if (!(metadataStore instanceof FolderStore)) return new StoreLog({ store: metadataStore, clock })
    const attachmentMaxBytes = Math.max(1 << 20, settings.walInlineMaxBytes)
    return new FolderLog({ store: metadataStore, podName: settings.pod, attachmentMaxBytes, clock, logger })
  }
  return {
    spec,
    store,
    log: openLog(),
    logStore: postgres === null && !(metadataStore instanceof FolderStore) ? metadataStore : null,
    async settle(clusterId) {
      for (const one of new Set([store, metadataStore])) {
        if (one instanceof FolderStore) await one.removeUnfinished()
        if (!(one instanceof FolderStore) || postgres !== null)
          await named(one === store ? 'store' : 'metadata', claimStore(one, clusterId))
      }
    },
    async forget() {
      for (const one of new Set([store, metadataStore])) {
        const [failed] = await one.delete([CLUSTER_KEY, POD_SECRET_KEY], { reason: 'metadata' })
        if (failed !== undefined) throw failed.error
      }
    },
    async close() {
      await store.close()
      if (metadataStore !== store) await metadataStore.close()
      lock?.release()
    },
  }
}

function samePlace(a: StoreSpec, b: StoreSpec): boolean {
  if (a.kind === 'folder') return b.kind === 'folder' && a.path === b.path
  return a.kind === 's3' && b.kind === 's3' && a.bucket === b.bucket && a.prefix === b.prefix
}

/** A store's place as people write it: a folder's path, or `s3://BUCKET/PREFIX`. */
export function placeName(spec: StoreSpec): string {
  if (spec.kind === 's3') return spec.prefix === '' ? `s3://${spec.bucket}` : `s3://${spec.bucket}/${spec.prefix}`
  return spec.kind === 'folder' ? spec.path : spec.kind
}

/** Bytes of the disk that a folder is on; null where there is no such size, or it cannot be read now. */
export async function volumeOf(spec: StoreSpec): Promise<{ readonly totalBytes: number; readonly usableBytes: number } | null> {
  if (spec.kind !== 'folder') return null
  const disk = await statfs(spec.path).catch(() => null)
  return disk === null ? null : { totalBytes: disk.blocks * disk.bsize, usableBytes: disk.bavail * disk.bsize }
}
