import type { Clock } from '../../base/clock.ts'
import { FrazilError } from '../../base/errors.ts'
import { TimeSlice } from '../../base/slice.ts'
import type { WalExtent } from '../../metadata/view.ts'
import type { Wal } from '../../wal/port.ts'
import type { ChunkPool } from './chunks.ts'
import type { FilePlan } from './plan.ts'
import type { EncodePart } from './tasks.ts'

export interface GatherOptions {
  readonly wal: Wal
  readonly clock: Clock
  readonly chunks: ChunkPool
}

/**
 * Reads a file's extents into chunks, which can be used again, unlike one large piece of memory a file. Rests for `restMs`
 * between slices. Errors: CORRUPT, and what the WAL's read throws.
 */
export async function gather(
  { clock, wal, chunks: pool }: GatherOptions,
  file: FilePlan,
  restMs: number,
): Promise<{ chunks: ArrayBuffer[]; parts: EncodePart[] }> {
  const chunks: ArrayBuffer[] = []
  const parts: EncodePart[] = []
  const slice = new TimeSlice(clock, restMs)
  let target = new Uint8Array(0)
  let at = 0
  let leftBytes = file.sizeBytes
  for (const { partition, fromOffset, extents, aborted } of file.spans) {
    // extents that follow each other are one part: tens of thousands of small ones must not be cloned one by one
    let part: { -readonly [Field in keyof EncodePart]: EncodePart[Field] } | null = null
    for (const extent of extents) {
      if (extent.kind === 'marker') continue
      const { firstOffset, lastOffset, sizeBytes } = extent
      if (at + sizeBytes > target.length) {
        const chunk = pool.take(sizeBytes, leftBytes)
        chunks.push(chunk)
        target = new Uint8Array(chunk)
        at = 0
        part = null
      }
      // most are still in memory: no promise for each of them
      if (!wal.copyCached(extent, target, at)) await copyRead(wal, extent, target, at)
      if (part !== null && part.toOffset + 1 === firstOffset) {
        part.toOffset = lastOffset
        part.sizeBytes += sizeBytes
      } else {
        const from = Math.max(fromOffset, firstOffset)
        const chunk = chunks.length - 1
        part = { partition, baseOffset: firstOffset, fromOffset: from, toOffset: lastOffset, chunk, at, sizeBytes, aborted }
        parts.push(part)
      }
      at += sizeBytes
      leftBytes -= sizeBytes
      const pause = slice.step()
      if (pause !== null) await pause
    }
  }
  return { chunks, parts }
}

async function copyRead(wal: Wal, { object, byteOffset, sizeBytes }: WalExtent, target: Uint8Array, at: number): Promise<void> {
  const source = await wal.read(object, byteOffset, sizeBytes, { whole: true })
  if (source.length !== sizeBytes) throw new FrazilError('CORRUPT', `WAL object ${object} gave ${source.length} of ${sizeBytes} bytes`)
  target.set(source, at)
}
