/**
 * Store keys of a table's Paimon metadata: `<table>/_paimon` is a warehouse of its own with one table, whose name is the
 * one that the folder was made with.
 */
function root(location: string): string {
  const [namespace, folder] = location.split('/').slice(-2) as [string, string]
  return `${location}/_paimon/${namespace}.db/${folder.replace(/-[0-9a-f]{8}$/, '')}`
}

export const paimonLayout = {
  root,
  schemas: (location: string): string => `${root(location)}/schema/`,
  schema: (location: string, id: number): string => `${root(location)}/schema/schema-${id}`,
  snapshots: (location: string): string => `${root(location)}/snapshot/`,
  snapshot: (location: string, id: number): string => `${root(location)}/snapshot/snapshot-${id}`,
  latest: (location: string): string => `${root(location)}/snapshot/LATEST`,
  earliest: (location: string): string => `${root(location)}/snapshot/EARLIEST`,
  manifest: (location: string, name: string): string => `${root(location)}/manifest/${name}`,
} as const

/** The number at the end of `…/schema-3` or `…/snapshot-12`, or -1. */
export function numberOf(key: string, kind: 'schema' | 'snapshot'): number {
  const match = new RegExp(`/${kind}-(\\d+)$`).exec(key)
  return match === null ? -1 : Number(match[1])
}
