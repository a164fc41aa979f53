/** A 32-bit hash of a text; the same on every pod and in every version (clients are sent by it). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix(hash)
}

/** Stirs the bits of a number (the finalizer of MurmurHash3). */
export function mix(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/**
 * The node that a key belongs to among these: the one with the highest weight (rendezvous hashing). When a node comes or goes, only the
 * keys that it takes or leaves move. -1 when there is none. Equal weights: the lower id.
 */
export function rendezvous(key: number, nodeIds: Iterable<number>): number {
  let best = -1
  let bestWeight = -1
  for (const nodeId of nodeIds) {
    const weight = mix(key ^ mix(nodeId + 0x9e3779b9))
    if (weight > bestWeight || (weight === bestWeight && nodeId < best)) {
      best = nodeId
      bestWeight = weight
    }
  }
  return best
}
