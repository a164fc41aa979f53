import type { Clock } from '../base/clock.ts'
import type { Logger } from '../base/log.ts'
import type { OffsetItem } from '../metadata/commands.ts'
import type { Metadata } from '../metadata/port.ts'
import { Errors } from '../../protocol/errors.ts'
import { writeGroup } from './store.ts'
import type { CommitItem, CommitRequest, GroupSettings, TransactionCommitRequest } from './types.ts'

/** An unchanged commit is written again at most this often (L20), so that retention sees the group alive. */
const REFRESH_MS = 3_600_000

/** Writes committed offsets; who may commit is the coordinator's business. */
export class Offsets {
  readonly #metadata: Metadata
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #settings: () => GroupSettings
  /** Commits on their way, by group: what is stored is then not what will be, so nothing counts as unchanged. */
  readonly #inFlight = new Map<string, number>()

  constructor(options: {
    readonly metadata: Metadata
    readonly clock: Clock
    readonly logger: Logger
    readonly settings: () => GroupSettings
  }) {
    this.#metadata = options.metadata
    this.#clock = options.clock
    this.#logger = options.logger
    this.#settings = options.settings
  }

  /** One Kafka error code an item, in the request's order. */
  async commit(request: CommitRequest): Promise<readonly number[]> {
    const { offsetMetadataMaxLength, offsetsRetentionMs } = this.#settings()
    const nowMs = this.#clock.wallMs()
    const expireTimeMs = request.retentionMs >= 0 ? nowMs + request.retentionMs : -1
    const refreshMs = Math.min(REFRESH_MS, offsetsRetentionMs / 2)
    const settled = !this.#inFlight.has(request.groupId)
    const errors = request.items.map((item) =>
      item.metadata.length > offsetMetadataMaxLength ? Errors.OFFSET_METADATA_TOO_LARGE : Errors.NONE,
    )
    const items: OffsetItem[] = []
    request.items.forEach((item, i) => {
      if (errors[i] !== Errors.NONE) return
      const { topic, partition, offset, leaderEpoch, metadata } = item
      const stored = settled ? this.#metadata.state.offset(request.groupId, topic, partition) : null
      if (
        stored !== null &&
        unchanged(stored, item) &&
        stored.expireTimeMs === -1 &&
        expireTimeMs === -1 &&
        nowMs - stored.commitTimeMs < refreshMs
      )
        return
      items.push({ topic, partition, offset, leaderEpoch, metadata, commitTimeMs: nowMs, expireTimeMs })
    })
    if (items.length === 0) return errors
    const error = await this.#write(request.groupId, items)
    return error === Errors.NONE ? errors : errors.map((own) => (own === Errors.NONE ? error : own))
  }

  /** As `commit`, pending until the transaction ends (KIP-447). */
  async commitTransactional(request: TransactionCommitRequest): Promise<readonly number[]> {
    const { offsetMetadataMaxLength } = this.#settings()
    const commitTimeMs = this.#clock.wallMs()
    const isTooLarge = (item: CommitItem): boolean => item.metadata.length > offsetMetadataMaxLength
    const items = request.items
      .filter((item) => !isTooLarge(item))
      .map(({ topic, partition, offset, leaderEpoch, metadata }) => {
        return { topic, partition, offset, leaderEpoch, metadata, commitTimeMs, expireTimeMs: -1 }
      })
    const { groupId, transaction } = request
    const error =
      items.length === 0
        ? Errors.NONE
        : await writeGroup(this.#metadata, this.#logger, groupId, { kind: 'commitTransactionOffsets', groupId, items, ...transaction })
    return request.items.map((item) => (isTooLarge(item) ? Errors.OFFSET_METADATA_TOO_LARGE : error))
  }

  async #write(groupId: string, items: readonly OffsetItem[]): Promise<number> {
    this.#inFlight.set(groupId, (this.#inFlight.get(groupId) ?? 0) + 1)
    try {
      return await writeGroup(this.#metadata, this.#logger, groupId, { kind: 'commitOffsets', groupId, items })
    } finally {
      const left = this.#inFlight.get(groupId)! - 1
      if (left === 0) this.#inFlight.delete(groupId)
      else this.#inFlight.set(groupId, left)
    }
  }
}

function unchanged(stored: OffsetItem, item: CommitItem): boolean {
  return stored.offset === item.offset && stored.leaderEpoch === item.leaderEpoch && stored.metadata === item.metadata
}
