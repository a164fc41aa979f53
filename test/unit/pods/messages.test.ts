import { describe, expect, it } from 'vitest'
import { decodeMessage, encodeMessage, type Message } from '../../../src/pods/messages.ts'
import { hasCode } from '../../../src/base/errors.ts'
import { seededRandom } from '../../../src/base/random.ts'

const MESSAGES: readonly Message[] = [
  { type: 'hello', clusterId: 'cluster', pod: 'pod-ä', incarnation: 2 ** 40 },
  { type: 'beat', lastEntry: 2 ** 53 - 1 },
  { type: 'entry', number: 7, attachmentBytes: 0, bytes: Buffer.from([1, 2, 3]) },
  { type: 'forward', id: 1, incarnation: 2, firstSequence: 3, proposals: [Buffer.from([1]), Buffer.alloc(0)] },
  { type: 'forwarded', id: 1, entry: 0 },
  { type: 'read', id: 9, object: 5, start: 0, end: 100 },
  { type: 'bytes', id: 9, bytes: null },
  { type: 'bytes', id: 9, bytes: Buffer.from('x') },
  { type: 'bye' },
]

describe('messages between pods', () => {
  it.each(MESSAGES.map((message) => [message.type, message] as const))('%s comes back as it was', (_, message) => {
    expect(decodeMessage(encodeMessage(message))).toEqual(message)
  })

  it('one of a newer program is passed over; cut ones are an error, garbage is no crash', () => {
    expect(decodeMessage(Buffer.of(200, 1, 2))).toBe(null)
    for (const message of MESSAGES.slice(0, 6)) {
      const bytes = encodeMessage(message)
      expect(() => decodeMessage(bytes.subarray(0, bytes.length - 1))).toThrow(expect.objectContaining({ code: 'CORRUPT' }))
    }
    const random = seededRandom(5)
    for (let i = 0; i < 3000; i++) {
      const bytes = Buffer.from(Array.from({ length: 1 + random() * 40 }, (_, at) => (at === 0 ? random() * 9 : random() * 256)))
      try {
        decodeMessage(bytes)
      } catch (error) {
        if (!hasCode(error, 'CORRUPT')) throw error
      }
    }
  })
})
