import type { PartitionView } from './view.ts'

/** The epoch in which an offset was written (L9). */
export function epochOfOffset({ epochs, leaderEpoch }: PartitionView, offset: number): number {
  let epoch = epochs[0]?.epoch ?? leaderEpoch
  for (const each of epochs) if (each.startOffset <= offset) epoch = each.epoch
  return epoch
}
