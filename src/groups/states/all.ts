import type { StateName } from '../types.ts'
import { completingRebalance } from './completingRebalance.ts'
import { dead } from './dead.ts'
import { empty } from './empty.ts'
import { preparingRebalance } from './preparingRebalance.ts'
import { stable } from './stable.ts'
import type { GroupState } from './state.ts'

/** Every state by name. States know each other by name only. */
export const STATES: Readonly<Record<StateName, GroupState>> = {
  Empty: empty,
  PreparingRebalance: preparingRebalance,
  CompletingRebalance: completingRebalance,
  Stable: stable,
  Dead: dead,
}
