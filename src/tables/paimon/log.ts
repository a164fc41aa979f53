import { FrazilError, hasCode } from '../../base/errors.ts'
import type { ObjectStore } from '../../storage/store.ts'
import { numberOf, paimonLayout } from './layout.ts'
import { decodeEntries, decodeManifestFiles, Kind, type FileMeta, type ManifestMeta } from './manifest.ts'
import { historyOf, parseSchema } from './schema.ts'
import { EMPTY, type PaimonSnapshot, type PaimonState } from './state.ts'

const read = async (store: ObjectStore, key: string): Promise<Buffer> => (await store.get(key, { reason: 'table' })).body

/** Numbers of the objects of a kind below a prefix, ascending. */
async function numbers(store: ObjectStore, prefix: string, kind: 'schema' | 'snapshot'): Promise<number[]> {
  const found: number[] = []
  for await (const { key } of store.list(prefix, { reason: 'table' })) {
    const number = numberOf(key, kind)
    if (number >= 0) found.push(number)
  }
  return found.toSorted((a, b) => a - b)
}

export async function readSnapshot(store: ObjectStore, location: string, id: number): Promise<PaimonSnapshot> {
  return JSON.parse((await read(store, paimonLayout.snapshot(location, id))).toString()) as PaimonSnapshot
}

/** Ids of the snapshots that are there. */
export function snapshotIds(store: ObjectStore, location: string): Promise<number[]> {
  return numbers(store, paimonLayout.snapshots(location), 'snapshot')
}

/** The manifests of a snapshot, base and delta. */
export async function manifestsOf(store: ObjectStore, location: string, snapshot: PaimonSnapshot): Promise<ManifestMeta[]> {
  const lists = [snapshot.baseManifestList, snapshot.deltaManifestList]
  const files = await Promise.all(lists.map(async (name) => decodeManifestFiles(await read(store, paimonLayout.manifest(location, name)))))
  return files.flat()
}

/** Reads what a table's Paimon metadata shows. Errors: STORE_…, CORRUPT. */
export async function readTable(store: ObjectStore, location: string): Promise<PaimonState> {
  try {
    const schemaIds = await numbers(store, paimonLayout.schemas(location), 'schema')
    const schemaId = schemaIds.at(-1) ?? -1
    const schemas = await Promise.all(
      schemaIds.map(async (number) => parseSchema((await read(store, paimonLayout.schema(location, number))).toString())),
    )
    const history = schemas.map((one, at) => historyOf(schemaIds[at]!, one))
    const id = (await snapshotIds(store, location)).at(-1) ?? 0
    const schema = schemas.at(-1) ?? null
    if (id === 0) return { ...EMPTY, schemaId, schema, history }
    const snapshot = await readSnapshot(store, location, id)
    const manifests = await manifestsOf(store, location, snapshot)
    const live = new Map<string, FileMeta>()
    for (const { name } of manifests) {
      for (const { kind, file } of await decodeEntries(await read(store, paimonLayout.manifest(location, name)))) {
        const path = file._EXTERNAL_PATH ?? file._FILE_NAME
        if (kind === Kind.add) live.set(path, file)
        else live.delete(path)
      }
    }
    return { snapshot, schemaId, schema, history, manifests, live }
  } catch (error) {
    const known = error instanceof FrazilError && !hasCode(error, 'STORE_NOT_FOUND')
    throw known ? error : new FrazilError('CORRUPT', `the Paimon metadata in ${location} does not read`, error)
  }
}
