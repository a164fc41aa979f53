import { Gauge, type Registry } from 'prom-client'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import { Errors } from '../../protocol/errors.ts'
import type { ClassicSide } from './consumer/turns.ts'
import { Group, type GroupContext } from './group.ts'
import { STATES } from './states/all.ts'
import { writeGroup } from './store.ts'
import type { GroupSettings } from './types.ts'

export interface ClassicGroupsOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly registry: Registry
  readonly settings: () => GroupSettings
}

/** Classic groups as they live in this process: those with members, those that somebody joins, and empty ones for a while. */
export class ClassicGroups {
  readonly byId = new Map<string, Group>()
  readonly #metadata: Metadata
  readonly #context: GroupContext

  constructor({ metadata, clock, logger, registry, settings }: ClassicGroupsOptions) {
    this.#metadata = metadata
    this.#context = {
      clock,
      settings,
      states: STATES,
      put: (group) => writeGroup(metadata, logger, group.groupId, { kind: 'putGroup', group }),
      onDead: (group) => {
        if (this.byId.get(group.groupId) === group) this.byId.delete(group.groupId)
      },
    }
    const { byId } = this
    const gauge = new Gauge({
      name: 'frazil_groups_live',
      help: 'Consumer groups held in memory, by state',
      labelNames: ['state'],
      registers: [],
      collect() {
        this.reset()
        for (const group of byId.values()) this.inc({ state: group.state.name })
      },
    })
    registry.registerMetric(gauge)
  }

  /** The live group, or one made from its record; null when neither is there. */
  find(groupId: string): Group | null {
    const live = this.byId.get(groupId)
    if (live !== undefined) return live
    const { state } = this.#metadata
    return state.group(groupId) === null || state.consumerGroup(groupId) !== null ? null : this.live(groupId)
  }

  /** The live group, made when it is not there. */
  live(groupId: string): Group {
    const known = this.byId.get(groupId)
    if (known !== undefined) return known
    const group = new Group(groupId, this.#context, this.#metadata.state.group(groupId))
    this.byId.set(groupId, group)
    return group
  }

  /** A join that was refused leaves no group behind. */
  forgetUnused(group: Group): void {
    if (group.idle && group.generation === 0 && this.byId.get(group.groupId) === group) this.byId.delete(group.groupId)
  }

  /** What consumer groups need of it to take the place of a classic one, and to give it back. */
  side(): ClassicSide {
    return {
      isBusy: (groupId) => this.byId.get(groupId)?.idle === false,
      record: (groupId) => this.find(groupId)?.record() ?? null,
      supersede: (groupId) => this.byId.get(groupId)?.die(Errors.REBALANCE_IN_PROGRESS),
      adopt: (groupId, rebalance) => {
        const group = this.live(groupId)
        if (rebalance) group.transitionTo('PreparingRebalance')
      },
      forget: (groupId) => this.byId.get(groupId)?.die(Errors.COORDINATOR_NOT_AVAILABLE),
    }
  }
}
