import { FrazilError } from '../../base/errors.ts'
import type { ObjectStore } from '../store.ts'

const RACES = 4
const RACERS = 8
const OPTIONS = { reason: 'probe' } as const

/**
 * Tries what the promises rest on, on keys of its own that it deletes again: conditional writes are exact, also in a race and
 * when an upload is completed; what was written is read and listed at once, in order. About 60 requests.
 * `id`: unique to this call. Errors: REFUSED with the sentence of what the store does not keep; STORE_UNAVAILABLE.
 */
export async function probeStore(store: ObjectStore, id: string): Promise<void> {
  const folder = `meta/probe/${id}`
  const keys: string[] = []
  const own = (name: string): string => {
    const key = `${folder}/${name}`
    keys.push(key)
    return key
  }
  try {
    await conditions(store, own('conditions'))
    await uploads(store, own('upload'))
    await race(store, own)
    await lists(store, folder, own)
  } finally {
    // What stays is harmless, and the error that counts is the one above.
    await store.delete(keys, OPTIONS).catch(() => undefined)
  }
  for await (const { key } of store.list(`${folder}/`, OPTIONS)) throw refused(`it lists ${key} after its deletion`)
}

async function conditions(store: ObjectStore, key: string): Promise<void> {
  const first = await store.putIfAbsent(key, Buffer.from('first'), OPTIONS)
  if (first === null) throw refused('it says that an object exists which was never written')
  if ((await store.putIfAbsent(key, Buffer.from('second'), OPTIONS)) !== null) throw refused('it ignores If-None-Match on PutObject')
  if ((await text(store, key)) !== 'first') throw refused('a write that it refused took effect')
  const second = await store.putIfMatch(key, Buffer.from('the second'), first.etag, OPTIONS)
  if (second === null) throw refused('it refuses If-Match on PutObject with the ETag that it gave')
  if (second.etag === first.etag) throw refused('other bytes got the same ETag')
  if ((await store.putIfMatch(key, Buffer.from('third'), first.etag, OPTIONS)) !== null) throw refused('it ignores If-Match on PutObject')
  if ((await text(store, key)) !== 'the second') throw refused('it serves an old version after a write')
  const range = await store.getRange(key, { start: 4, end: 7 }, OPTIONS)
  const suffix = await store.getRange(key, { start: -3 }, OPTIONS)
  if (range.body.toString() !== 'sec' || range.sizeBytes !== 10 || suffix.body.toString() !== 'ond') throw refused('it ignores ranges')
  if ((await store.head(`${key}.absent`, OPTIONS)) !== null) throw refused('it says that an object exists which was never written')
}

/** gofakes3, for one, knows conditions on puts and ignores them here. */
async function uploads(store: ObjectStore, key: string): Promise<void> {
  // Above the least size of a part, so that it is an upload indeed.
  const body = Buffer.alloc(5 << 20)
  for (const wanted of [true, false]) {
    const upload = await store.multipart(key, OPTIONS)
    await upload.putPart(1, body)
    const created = await upload.complete({ ifAbsent: true })
    if (wanted && created === null) throw refused('it says that an object exists which was never written')
    if (!wanted && created !== null) throw refused('it ignores If-None-Match on CompleteMultipartUpload')
  }
}

/** A store that looks first and writes later lets several win. */
async function race(store: ObjectStore, own: (name: string) => string): Promise<void> {
  const rounds = Array.from({ length: RACES }, (_, i) => own(`race-${i}`))
  for (const key of rounds) {
    const answers = await Promise.all(
      Array.from({ length: RACERS }, (_, i) => store.putIfAbsent(key, Buffer.from(`writer ${i} of ${key}`), OPTIONS)),
    )
    const winners = answers.filter((answer) => answer !== null)
    if (winners.length !== 1) throw refused(`of ${RACERS} that created one object at the same time, ${winners.length} were told they did`)
    if ((await store.head(key, OPTIONS))?.etag !== winners[0].etag) throw refused('another won a race than the one that was told so')
  }
}

async function lists(store: ObjectStore, folder: string, own: (name: string) => string): Promise<void> {
  // In order of UTF-8 bytes: '-' < '/' < '0'.
  const names = ['list/a-', 'list/a/b', 'list/a0', 'list/é']
  for (const name of names.toReversed()) await store.put(own(name), Buffer.from(name), OPTIONS)
  const seen: string[] = []
  for await (const { key } of store.list(`${folder}/list/`, OPTIONS)) seen.push(key.slice(folder.length + 1))
  const missing = names.filter((name) => !seen.includes(name))
  if (missing.length > 0) throw refused(`its lists lack what was written just before (${missing.length} of ${names.length} keys)`)
  if (seen.join() !== names.join()) throw refused(`its lists are not in order of keys (${seen.join(', ')})`)
  const after: string[] = []
  for await (const { key } of store.list(`${folder}/list/`, { ...OPTIONS, startAfter: `${folder}/${names[1]}` })) after.push(key)
  if (after.length !== 2) throw refused('its lists ignore where they are to start')
  await store.delete([`${folder}/${names[0]}`], OPTIONS)
  for await (const { key } of store.list(`${folder}/list/`, OPTIONS)) {
    if (key === `${folder}/${names[0]}`) throw refused(`it lists ${key} after its deletion`)
  }
}

async function text(store: ObjectStore, key: string): Promise<string> {
  return (await store.get(key, OPTIONS)).body.toString()
}

function refused(why: string): FrazilError {
  return new FrazilError('REFUSED', `this object store cannot hold a log: ${why}; records would be lost, so nothing is started`)
}
