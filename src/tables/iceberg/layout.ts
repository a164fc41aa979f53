import type { LongId } from './types.ts'

/** Publications as file names show them: five digits, more when they are needed. */
function digits(publication: number): string {
  return String(publication).padStart(5, '0')
}

/** `<5 digits publication>-<uuid>`: the stem of a publication's metadata file and of its object in `_frazil`. */
export function publicationStem(publication: number, uuid: string): string {
  return `${digits(publication)}-${uuid}`
}

/** The stem of a metadata key. */
export function stemOf(metadataKey: string): string {
  return metadataKey.slice(metadataKey.lastIndexOf('/') + 1).replace(/\.metadata\.json$/, '')
}

/** The publication number in a stem, or -1. */
export function publicationOf(stem: string): number {
  const match = /^(\d{5,})-/.exec(stem)
  return match === null ? -1 : Number(match[1])
}

/** Store keys below a table's location. FORMATS.md, "Table metadata". */
export const layout = {
  data: (location: string, incarnation: number, uuid: string): string => `${location}/data/${incarnation}-${uuid}.parquet`,
  dataPrefix: (location: string): string => `${location}/data/`,
  metadata: (location: string, stem: string): string => `${location}/_iceberg/metadata/${stem}.metadata.json`,
  manifest: (location: string, stem: string, number: number): string => `${location}/_iceberg/metadata/${stem}-m${number}.avro`,
  manifestList: (location: string, stem: string): string => `${location}/_iceberg/metadata/snap-${stem}.avro`,
  metadataPrefix: (location: string): string => `${location}/_iceberg/metadata/`,
  hint: (location: string): string => `${location}/_iceberg/metadata/version-hint.text`,
  topic: (location: string, stem: string): string => `${location}/_frazil/${stem}.json`,
  offsets: (location: string, stem: string): string => `${location}/_frazil/offsets/${stem}.json`,
  typing: (location: string, version: number, uuid: string): string => `${location}/_frazil/typing-${version}-${uuid}.json`,
  topicPrefix: (location: string): string => `${location}/_frazil/`,
} as const

/** The incarnation that wrote a data file, or -1 when the name is no name of ours (L13). */
export function incarnationOf(dataKey: string): number {
  const match = /^(\d+)-[0-9a-f-]{36}\.parquet$/.exec(dataKey.slice(dataKey.lastIndexOf('/') + 1))
  return match === null ? -1 : Number(match[1])
}

/**
 * A snapshot id below 2^53 (hazard I7) that rises with the publication: 33 bits of publication, 20 random bits of the
 * uuid, so that a publication staged twice has two ids.
 */
export function mintSnapshotId(publication: number, uuid: string): LongId {
  return (publication % 2 ** 33) * 2 ** 20 + (parseInt(uuid.slice(0, 5), 16) || 1)
}
