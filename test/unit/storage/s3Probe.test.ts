import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claimStore, CLUSTER_KEY } from '../../../src/storage/s3/claim.ts'
import { probeStore } from '../../../src/storage/s3/probe.ts'
import { MemoryStore } from '../../../src/storage/memory.ts'
import { storeSpec } from '../../../src/storage/spec.ts'
import { FakeS3 } from '../../lib/fakeS3.ts'
import { s3Store } from './s3Home.ts'
import { keys, text } from './suite.ts'

let fake: FakeS3
beforeEach(async () => void (fake = await FakeS3.start('bucket')))
afterEach(() => fake.stop())

describe('the probe of a store', () => {
  it('takes one that keeps what it promises, and leaves nothing behind', async () => {
    const store = s3Store(fake)
    await probeStore(store, 'one')
    expect(await keys(store, '')).toEqual([])
    expect(fake.requests.length).toBeLessThan(80)
  })

  it('refuses one that ignores conditions', async () => {
    fake.bucket('bucket').ignoreConditions = true
    await expect(probeStore(s3Store(fake), 'one')).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('If-None-Match'),
    })
  })

  it('refuses one that ignores them when an upload ends', async () => {
    fake.faults = ({ method, headers }) => {
      if (method === 'POST') delete headers['if-none-match']
      return null
    }
    await expect(probeStore(s3Store(fake), 'one')).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('CompleteMultipartUpload'),
    })
  })

  it('refuses one that looks first and writes later', async () => {
    fake.bucket('bucket').checkEarly = true
    await expect(probeStore(s3Store(fake), 'one')).rejects.toMatchObject({
      code: 'REFUSED',
      message: expect.stringContaining('at the same time'),
    })
  })

  it('refuses one whose lists are stale', async () => {
    fake.bucket('bucket').staleWrites = 2
    await expect(probeStore(s3Store(fake), 'one')).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('lists') })
  })

  it('says that there is no such bucket', async () => {
    const store = s3Store(fake)
    const elsewhere = s3Store(fake, { spec: { ...store.spec, bucket: 'another' } })
    await expect(probeStore(elsewhere, 'one')).rejects.toMatchObject({ message: expect.stringContaining('no such bucket') })
  })
})

describe('the claim of a place', () => {
  it('is made once, and kept from other clusters and older versions', async () => {
    const store = new MemoryStore()
    await claimStore(store, 'one')
    await claimStore(store, 'one')
    await expect(claimStore(store, 'two')).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('cluster one') })
    await store.put(CLUSTER_KEY, text('{"format":2,"clusterId":"one"}'))
    await expect(claimStore(store, 'one')).rejects.toMatchObject({ code: 'REFUSED', message: expect.stringContaining('newer version') })
    await store.put(CLUSTER_KEY, text('something else'))
    await expect(claimStore(store, 'one')).rejects.toMatchObject({ code: 'CORRUPT' })
  })

  it('is won by one of several that start at once', async () => {
    const store = new MemoryStore()
    const answers = await Promise.allSettled(['a', 'b', 'c'].map((id) => claimStore(store, id)))
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('the settings of a store', () => {
  const settings = { fsync: true, s3Endpoint: '', s3PathStyle: false }
  it('name a bucket and prefix', () => {
    expect(storeSpec('store', 's3://bucket/some/prefix/', settings, { AWS_REGION: 'eu-west-1' })).toEqual({
      kind: 's3',
      bucket: 'bucket',
      prefix: 'some/prefix',
      endpoint: null,
      region: 'eu-west-1',
      pathStyle: false,
    })
    const local = storeSpec('store', 's3://bucket', { ...settings, s3Endpoint: 'http://127.0.0.1:9000', s3PathStyle: true }, {})
    expect(local).toMatchObject({ prefix: '', endpoint: 'http://127.0.0.1:9000', region: 'us-east-1', pathStyle: true })
    expect(storeSpec('store', 'file:./x', settings, {})).toEqual({ kind: 'folder', path: './x', fsync: true })
  })

  it('are refused in one sentence when wrong', () => {
    for (const bad of ['s3://', 's3://Up/x', 's3://ab', 's3:bucket', 's3://bucket/a//b', 's3://bucket/../x', 'http://bucket', 'bucket']) {
      expect(() => storeSpec('store', bad, settings, {})).toThrow(/^store: /)
    }
    expect(() => storeSpec('store', 's3://bucket', { ...settings, s3Endpoint: 'localhost:9000' }, {})).toThrow(/s3-endpoint/)
  })
})
