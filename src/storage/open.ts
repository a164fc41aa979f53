import { FrazilError } from '../base/errors.ts'
import { FolderStore } from './folder.ts'
import type { RequestCounter } from './metrics.ts'
import { S3Store } from './s3/store.ts'
import type { ObjectStore, StoreSpec } from './store.ts'

/** Opens the store that a specification names, for a worker thread. */
export async function openStore(spec: StoreSpec, metrics?: RequestCounter): Promise<ObjectStore> {
  if (spec.kind === 's3') return new S3Store({ spec, metrics })
  if (spec.kind === 'memory') throw new FrazilError('REFUSED', `the memory store ${spec.name} lives in the thread that made it`)
  const store = new FolderStore({ path: spec.path, fsync: spec.fsync, metrics })
  await store.open()
  return store
}
