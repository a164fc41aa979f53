import type { Clock } from '../base/clock.ts'
import { hasCode } from '../base/errors.ts'
import type { Metadata } from '../metadata/port.ts'
import type { Body, ObjectStore, Reason } from '../storage/store.ts'
import { indexOf, type WalBuffer } from './buffer.ts'
import { encodeFooter, encodeHeader, HEADER_BYTES, walKey } from './format.ts'

export interface UploadOptions {
  readonly store: ObjectStore
  readonly metadata: Metadata
  readonly clock: Clock
  /** How often a put of unknown outcome is repeated, and the pause before it. */
  readonly unknownRetries: number
  readonly unknownRetryMs: number
}

const NO_TOPIC = '00000000-0000-0000-0000-000000000000'

/** Puts a placed buffer as one object. Errors: STORE_UNAVAILABLE, STORE_FULL, STORE_UNKNOWN. */
export async function uploadBuffer(
  buffer: WalBuffer,
  options: UploadOptions,
): Promise<{ readonly key: string; readonly sizeBytes: number }> {
  const { state, incarnation } = options.metadata
  const key = walKey(state.timeline, incarnation, buffer.walSequence)
  const index = indexOf(buffer.items, (topic) => state.topicByNumber(topic)?.topicId ?? NO_TOPIC)
  const footer = encodeFooter(HEADER_BYTES + buffer.sizeBytes, index)
  const body = [encodeHeader(incarnation, buffer.walSequence), ...buffer.items.map((item) => item.batch.bytes), footer]
  await putSure(key, body, 'wal', options)
  return { key, sizeBytes: HEADER_BYTES + buffer.sizeBytes + footer.length }
}

/**
 * Puts under a key that only this incarnation uses. When nobody knows whether a put took effect it is simply made again:
 * the bytes under this key can be no others, whichever of the two lands last.
 */
export async function putSure(key: string, body: Body, reason: Reason, options: UploadOptions): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await options.store.put(key, body, { reason })
      return
    } catch (error) {
      if (!hasCode(error, 'STORE_UNKNOWN') || attempt >= options.unknownRetries) throw error
      await options.clock.sleep(options.unknownRetryMs * 2 ** attempt)
    }
  }
}
