import { afterAll, beforeAll } from 'vitest'
import { S3Store } from '../../../src/storage/s3/store.ts'
import { FakeS3 } from '../../lib/fakeS3.ts'
import { storeSuite } from './suite.ts'
import { s3Spec } from './s3Home.ts'

let fake: FakeS3
beforeAll(async () => void (fake = await FakeS3.start('bucket')))
afterAll(() => fake.stop())

let count = 0
storeSuite('S3 store', async () => new S3Store({ spec: s3Spec(fake, `prefix-${count++}`) }), { contentEtags: true })
storeSuite('S3 store in small pages', async () => new S3Store({ spec: s3Spec(fake, `small-${count++}`), pageKeys: 3 }), {
  contentEtags: true,
})
