import type { ConsumerGroupView } from '../../metadata/view.ts'
import type { ConsumerGroupState } from './types.ts'

/** The state as ListGroups and ConsumerGroupDescribe name it (K: ConsumerGroup.maybeUpdateGroupState). */
export function consumerGroupState({ head, members }: ConsumerGroupView): ConsumerGroupState {
  if (members.size === 0) return 'Empty'
  if (head.epoch > head.assignmentEpoch) return 'Assigning'
  for (const { phase, epoch } of members.values()) if (phase !== 0 || epoch !== head.assignmentEpoch) return 'Reconciling'
  return 'Stable'
}
