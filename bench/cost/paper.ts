import { dollars, requestTable, TERABYTE, type Requests } from './prices.ts'

const MIB = 1 << 20

/** What requests depend on; sizes in bytes of what is stored, after the producers' compression. */
export interface Paper {
  readonly bytesPerSecond: number
  readonly pods: number
  readonly topics: number
  readonly walObjectBytes: number
  /** Longest wait of a buffer, and so the least rate of objects of a pod that is never idle. */
  readonly lingerMs: number
  /** Time of one entry of the metadata log; one is in flight. */
  readonly entryMs: number
  readonly fileBytes: number
  readonly targetFileBytes: number
  readonly partBytes: number
  /** How often a byte is written again on its way from a first file to one of the target size. */
  readonly merges: number
  /** Bytes that one ranged read of a merge takes. */
  readonly mergeReadBytes: number
  readonly commitIntervalMs: number
  /** Small objects of one publication: manifest, manifest list, metadata, hint. */
  readonly objectsPerCommit: number
}

/** Requests for one TB (10^12 bytes) from producer to table, by the rules of the design. */
export function requestsPerTerabyte(paper: Paper): Requests[] {
  const seconds = TERABYTE / paper.bytesPerSecond
  const perPod = paper.bytesPerSecond / paper.pods
  const objectBytes = Math.min(paper.walObjectBytes, Math.max(1, (perPod * paper.lingerMs) / 1000))
  const objects = TERABYTE / objectBytes
  const entries = Math.min(objects, (seconds * 1000) / paper.entryMs)
  const files = TERABYTE / paper.fileBytes
  const merged = (TERABYTE * paper.merges) / paper.targetFileBytes
  const parts = (sizeBytes: number): number => (sizeBytes <= paper.partBytes ? 1 : Math.ceil(sizeBytes / paper.partBytes) + 2)
  const commits = Math.max(files, (seconds * 1000 * paper.topics) / paper.commitIntervalMs) + merged
  return [
    { kind: 'put', reason: 'wal', count: objects },
    { kind: 'put', reason: 'metadata', count: entries },
    // the pods that do not write the entries read them; a stream between pods saves most of it, and is not counted on
    { kind: 'get', reason: 'metadata', count: entries * (paper.pods - 1) },
    { kind: 'get', reason: 'convert', count: objects },
    { kind: 'put', reason: 'convert', count: files * parts(paper.fileBytes) },
    { kind: 'get', reason: 'maintain', count: (TERABYTE * paper.merges) / paper.mergeReadBytes },
    { kind: 'put', reason: 'maintain', count: merged * parts(paper.targetFileBytes) },
    { kind: 'put', reason: 'table', count: commits * paper.objectsPerCommit },
    { kind: 'delete', reason: 'maintain', count: (objects + files) / 1000 },
  ]
}

export const AT_1_GIB: Omit<Paper, 'pods'> = {
  bytesPerSecond: 1 << 30,
  topics: 100,
  walObjectBytes: 16 * MIB,
  lingerMs: 100,
  entryMs: 40,
  fileBytes: 64 * MIB,
  targetFileBytes: 512 * MIB,
  partBytes: 32 * MIB,
  merges: 1,
  mergeReadBytes: 8 * MIB,
  commitIntervalMs: 300_000,
  objectsPerCommit: 4,
}

/** The lines that `bench/cost` prints for a load that this machine cannot make. */
export function paperLines(pods: number): string {
  const requests = requestsPerTerabyte({ ...AT_1_GIB, pods })
  return `1 GiB/s on paper, ${pods} pod(s), incompressible, per TB:\n${requestTable(requests, 1)}\n    together $${dollars(requests).toFixed(2)} per TB`
}
