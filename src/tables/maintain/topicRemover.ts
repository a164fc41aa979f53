import type { Clock } from '../../base/clock.ts'
import type { TopicSettings } from '../../base/config/topicSettings.ts'
import type { Logger } from '../../base/log.ts'
import type { Result } from '../../metadata/commands.ts'
import type { Metadata } from '../../metadata/port.ts'
import type { TopicView } from '../../metadata/view.ts'
import type { Converter } from '../convert/converter.ts'

export interface TopicRemoverOptions {
  readonly metadata: Metadata
  readonly converter: Converter
  readonly clock: Clock
  readonly logger: Logger
  readonly settings: (topic: TopicView) => TopicSettings
}

/** `20261130T194500Z`. */
function stamp(wallMs: number): string {
  return new Date(wallMs).toISOString().replace(/[-:]/g, '').replace(/\.\d+/, '')
}

/**
 * Deletes topics (T20). With `table.on.delete=keep` what is not in the table yet is converted first, and the table stays
 * under a name with the time. A table that is not published, or never had a row, is dropped.
 */
export class TopicRemover {
  readonly #options: TopicRemoverOptions

  constructor(options: TopicRemoverOptions) {
    this.#options = options
  }

  /**
   * Proposes the deletion; waits at most `waitMs` for the conversion before it, since a topic whose conversion fails must
   * be deletable too (P9). The answer of `apply`; errors: as Metadata.propose.
   */
  async remove(topic: TopicView, waitMs: number): Promise<Result> {
    const { clock, logger, metadata, settings } = this.#options
    const { enable, fileGraceMs, onDelete } = settings(topic).table
    let keepTableAs = ''
    if (onDelete === 'keep' && enable) {
      await this.#convert(topic, waitMs)
      const left = metadata.state.unconvertedRecords(topic.topic)
      if (left > 0) logger.warn({ topic: topic.name, records: left }, 'a topic is deleted before its last records came into the table')
      const table = metadata.state.table(topic.topic)
      if (table !== null && table.fileCount > 0) keepTableAs = `${table.name}_deleted_${stamp(clock.wallMs())}`
    }
    return metadata.propose({ kind: 'deleteTopic', topic: topic.topic, keepTableAs, graceMs: fileGraceMs })
  }

  async #convert(topic: TopicView, waitMs: number): Promise<void> {
    const { clock, converter, metadata } = this.#options
    const deadline = new AbortController()
    const timeout = clock.sleep(waitMs, deadline.signal)
    const timer = { passed: false }
    void timeout.then(() => (timer.passed = true))
    while (!timer.passed && !converter.paused && metadata.state.unconvertedRecords(topic.topic) > 0) {
      const ended = converter.ended(topic.topic)
      converter.request(topic.topic, 'load')
      await Promise.race([ended, timeout])
    }
    deadline.abort()
  }
}
