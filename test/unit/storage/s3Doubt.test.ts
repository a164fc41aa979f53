import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeS3 } from '../../lib/fakeS3.ts'
import { inTurn, s3Store } from './s3Home.ts'
import { text } from './suite.ts'

let fake: FakeS3
beforeEach(async () => void (fake = await FakeS3.start('bucket')))
afterEach(() => fake.stop())

const methods = (): string => fake.requests.map((request) => request.method).join(' ')
const LOST = { cut: 'after' } as const
const CUT = { cut: 'before' } as const

describe('S3 store: an answer that is lost', () => {
  it('of a creation is settled by looking: it was ours', async () => {
    const store = s3Store(fake)
    fake.faults = inTurn(LOST)
    const info = await store.putIfAbsent('k', text('mine'))
    expect(info).toEqual(await store.head('k'))
    expect(methods()).toBe('PUT HEAD HEAD')
    expect(await store.putIfAbsent('k', text('mine'))).toBeNull()
  })

  it('of a creation that another won is a no, also with equal bytes', async () => {
    const store = s3Store(fake)
    await s3Store(fake).putIfAbsent('k', text('same'))
    fake.faults = inTurn(LOST)
    expect(await store.putIfAbsent('k', text('same'))).toBeNull()
    fake.faults = inTurn(CUT, CUT)
    expect(await store.putIfAbsent('k', text('same'))).toBeNull()
  })

  it('never turns our own write into a no, when the repeated request meets it', async () => {
    const store = s3Store(fake)
    // the first arrives after we looked
    fake.faults = inTurn({ delayMs: 150 }, null)
    const slow = s3Store(fake, { attemptMs: 50 })
    const info = await slow.putIfAbsent('k', text('mine'))
    expect(info).not.toBeNull()
    expect(info).toEqual(await store.head('k'))
  })

  it('of a replacement is settled by looking, and is unknown once another version is there', async () => {
    const store = s3Store(fake)
    const first = (await store.put('k', text('1')))!
    fake.faults = inTurn(LOST)
    const second = await store.putIfMatch('k', text('2'), first.etag)
    expect(second).toEqual(await store.head('k'))
    fake.faults = inTurn(CUT)
    const third = await store.putIfMatch('k', text('3'), second!.etag)
    expect(third).toEqual(await store.head('k'))
    // ours lands, and another replaces it before we look
    fake.faults = ({ method }) => {
      if (method === 'HEAD') fake.bucket('bucket').put('k', text('other'), {}, {})
      return method === 'PUT' ? LOST : null
    }
    await expect(store.putIfMatch('k', text('4'), third!.etag)).rejects.toMatchObject({ code: 'STORE_UNKNOWN' })
  })

  it('of a plain write is sent again, and stays unknown when all are lost', async () => {
    const store = s3Store(fake, { tries: 3 })
    fake.faults = inTurn(LOST, CUT)
    expect(await store.put('k', text('1'))).toEqual(await store.head('k'))
    fake.faults = () => LOST
    await expect(store.put('k', text('2'))).rejects.toMatchObject({ code: 'STORE_UNKNOWN' })
    await expect(store.putIfAbsent('new', text('2'))).rejects.toMatchObject({ code: 'STORE_UNKNOWN' })
    await expect(store.get('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('of the end of an upload is settled by looking', async () => {
    const store = s3Store(fake)
    const finish = async (body: number): Promise<unknown> => {
      const upload = await store.multipart('k')
      await upload.putPart(1, Buffer.alloc(6 << 20, body))
      fake.faults = ({ query, method }) =>
        method === 'POST' && query.has('uploadId') && fake.faults !== null ? ((fake.faults = null), LOST) : null
      return upload.complete({ ifAbsent: true })
    }
    expect(await finish(1)).toEqual(await store.head('k'))
    expect(await finish(2)).toBeNull()
    expect((await store.get('k')).body[0]).toBe(1)
    expect(fake.bucket('bucket').uploads.size).toBe(0)
  })
})

describe('S3 store: trouble that leaves no doubt', () => {
  it('a conflict of conditional writes is sent again, a refusal is not', async () => {
    const store = s3Store(fake)
    fake.faults = inTurn({ status: 409, code: 'ConditionalRequestConflict' }, { status: 409, code: 'ConditionalRequestConflict' })
    expect(await store.putIfAbsent('k', text('1'))).not.toBeNull()
    expect(methods()).toBe('PUT PUT PUT')
    fake.faults = () => ({ status: 403, code: 'AccessDenied' })
    await expect(store.put('k', text('1'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('docs/OPERATIONS.md'),
    })
    expect(methods()).toBe('PUT PUT PUT PUT')
  })

  it('503 gives up as unavailable: nothing happened', async () => {
    const retries: string[] = []
    const store = s3Store(fake, { tries: 4, metrics: { count: () => {}, retry: (kind, cause) => void retries.push(`${kind} ${cause}`) } })
    fake.faults = () => ({ status: 503, code: 'SlowDown' })
    await expect(store.put('k', text('1'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(retries).toEqual(['put throttled', 'put throttled', 'put throttled'])
    fake.faults = () => ({ status: 503, code: 'ServiceUnavailable' })
    await expect(store.put('k', text('1'))).rejects.toMatchObject({ code: 'STORE_UNKNOWN' })
  })

  it('a body that is cut is read again, one that stalls too', async () => {
    const store = s3Store(fake, { attemptMs: 300 })
    const body = Buffer.alloc(100_000, 7)
    await store.put('k', body)
    fake.faults = inTurn({ half: true }, { answerDelayMs: 800 })
    expect((await store.get('k')).body.equals(body)).toBe(true)
    expect((await store.getRange('k', { start: -10 })).body.length).toBe(10)
  })

  it('is told in sentences that name what to do', async () => {
    const store = s3Store(fake, { tries: 2 })
    const told = async (status: number, code: string): Promise<string> => {
      fake.faults = () => ({ status, code })
      return store.put('k', text('1')).then(
        () => 'written',
        (error: Error) => error.message,
      )
    }
    expect(await told(404, 'NoSuchBucket')).toContain('no such bucket')
    expect(await told(403, 'SignatureDoesNotMatch')).toContain('AWS_SECRET_ACCESS_KEY')
    expect(await told(403, 'InvalidAccessKeyId')).toContain('AWS_ACCESS_KEY_ID')
    expect(await told(403, 'RequestTimeTooSkewed')).toContain('clock')
    expect(await told(301, 'PermanentRedirect')).toContain('AWS_REGION')
    expect(await told(507, 'InsufficientStorage')).toContain('space')
    // a 404 of somebody else does not say that the object is absent
    fake.faults = ({ method }) => (method === 'GET' ? { status: 404, code: 'NoSuchRoute' } : null)
    await expect(store.get('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    fake.faults = null
    const dead = s3Store(fake, { tries: 2, spec: { ...store.spec, endpoint: 'http://127.0.0.1:1' } })
    await expect(dead.put('k', text('1'))).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('endpoint'),
    })
  })

  it('names the keys that could not be deleted, and tries those that were busy again', async () => {
    const store = s3Store(fake)
    for (const key of ['a', 'b.undeletable', 'c.busy']) await store.put(key, text(key))
    expect(await store.delete(['a', 'b.undeletable', 'c.busy'])).toMatchObject([
      { key: 'b.undeletable', error: { code: 'STORE_UNAVAILABLE' } },
    ])
    const many = Array.from({ length: 2500 }, (_, i) => `many/${i}`)
    fake.requests.length = 0
    expect(await store.delete(many)).toEqual([])
    expect(fake.requests).toHaveLength(3)
  })
})
