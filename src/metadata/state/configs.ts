const NONE: ReadonlyMap<string, string> = new Map()

/** Dynamic configs of brokers ('' is the cluster-wide default) and groups; those of topics are with the topics. */
export class Configs {
  readonly brokers = new Map<string, Map<string, string>>()
  readonly groups = new Map<string, Map<string, string>>()

  broker(name: string): ReadonlyMap<string, string> {
    return this.brokers.get(name) ?? NONE
  }

  group(groupId: string): ReadonlyMap<string, string> {
    return this.groups.get(groupId) ?? NONE
  }

  /** A whole number of the cluster-wide configs that `apply` itself obeys. */
  clusterNumber(key: string, otherwise: number): number {
    const text = this.brokers.get('')?.get(key)
    return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : otherwise
  }
}
