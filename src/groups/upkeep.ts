import type { Clock, Timer } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { Metadata } from '../metadata/port.ts'
import type { ConsumerGroups } from './consumer/coordinator.ts'
import type { Group } from './group.ts'
import { expireOffsets } from './retention.ts'
import type { GroupSettings } from './types.ts'

export interface UpkeepOptions {
  readonly metadata: Metadata
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: () => GroupSettings
  readonly consumers: ConsumerGroups
  /** Classic groups as they live in this process. */
  readonly groups: Map<string, Group>
}

/** What is done now and then: offsets expire (KIP-211), empty groups leave memory. */
export class Upkeep {
  readonly #options: UpkeepOptions
  #timer: Timer | null = null
  #stopped = false

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  start(): void {
    const { clock, logger, metadata, settings, consumers, groups } = this.#options
    if (this.#stopped) return
    this.#timer = clock.timer(settings().offsetsRetentionCheckMs, () => {
      this.#forgetIdle()
      const request = {
        metadata,
        logger,
        nowMs: clock.wallMs(),
        retentionMs: settings().offsetsRetentionMs,
        live: (id: string) => groups.get(id) ?? null,
        consumers,
      }
      expireOffsets(request)
        .catch((error: unknown) => logger.error({ err: error }, 'offset retention failed; it is tried again at the next check'))
        .finally(() => this.start())
    })
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  /** Empty groups live in the state alone; those whose last write failed are written again first. */
  #forgetIdle(): void {
    const { groups } = this.#options
    for (const group of groups.values()) {
      if (!group.idle) continue
      if (group.unsaved) void group.put()
      else groups.delete(group.groupId)
    }
  }
}
