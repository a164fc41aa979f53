/**
 * Topics named in a consumer's subscription (protocol type "consumer": version int16, then an array of strings), or null
 * when the bytes are not one. Only retention looks inside; what is sent on to the leader is never re-encoded.
 */
export function subscribedTopics(metadata: Uint8Array): readonly string[] | null {
  const view = Buffer.from(metadata.buffer, metadata.byteOffset, metadata.byteLength)
  if (view.length < 6) return null
  const count = view.readInt32BE(2)
  if (count < 0 || count > view.length) return null
  const topics: string[] = []
  let at = 6
  for (let i = 0; i < count; i++) {
    if (at + 2 > view.length) return null
    const length = view.readInt16BE(at)
    at += 2
    if (length < 0 || at + length > view.length) return null
    topics.push(view.toString('utf8', at, at + length))
    at += length
  }
  return topics
}
