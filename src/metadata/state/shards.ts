/** Groups and transactional ids are spread over this many shards (L19). Frozen. */
export const SHARDS = 64

/** The shard of a group or transactional id: Java's String.hashCode, made positive, modulo 64. Frozen. */
export function shardOf(id: string): number {
  let hash = 0
  for (let i = 0; i < id.length; i++) hash = (Math.imul(hash, 31) + id.charCodeAt(i)) | 0
  return (hash & 0x7fffffff) % SHARDS
}

/** Owner (incarnation, 0 for none) and epoch of each shard. */
export class Shards {
  readonly owners = new Float64Array(SHARDS)
  readonly epochs = new Float64Array(SHARDS)
}
