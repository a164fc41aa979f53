import type { FileMeta, ManifestMeta } from './manifest.ts'
import type { PaimonSchema } from './schema.ts'

/** `snapshot-N`, as Paimon's Snapshot has it. */
export interface PaimonSnapshot {
  readonly version: 3
  readonly id: number
  readonly schemaId: number
  readonly baseManifestList: string
  readonly baseManifestListSize: number
  readonly deltaManifestList: string
  readonly deltaManifestListSize: number
  readonly commitUser: string
  readonly commitIdentifier: number
  readonly commitKind: 'APPEND' | 'COMPACT' | 'OVERWRITE'
  readonly timeMillis: number
  readonly totalRecordCount: number
  readonly deltaRecordCount: number
  readonly changelogRecordCount: 0
  readonly properties: Readonly<Record<string, string>>
}

/** What a table's Paimon metadata shows at its last snapshot. */
export interface PaimonState {
  /** null before the first snapshot. */
  readonly snapshot: PaimonSnapshot | null
  /** Newest schema; id -1 before the first. */
  readonly schemaId: number
  readonly schema: PaimonSchema | null
  /** All schemas with the ids of their leaf columns, oldest first. */
  readonly history: readonly { readonly id: number; readonly leaves: readonly number[]; readonly names: readonly string[] }[]
  /** Manifests of the last snapshot, base and delta. */
  readonly manifests: readonly ManifestMeta[]
  /** Live files by external path. */
  readonly live: ReadonlyMap<string, FileMeta>
}

export const EMPTY: PaimonState = { snapshot: null, schemaId: -1, schema: null, history: [], manifests: [], live: new Map() }

export function commitUser(tableUuid: string): string {
  return `frazil-${tableUuid}`
}
