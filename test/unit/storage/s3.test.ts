import { afterAll, beforeAll } from 'vitest'
import { FakeS3 } from '../../lib/fakeS3.ts'
import { s3Spec, s3Store, trouble } from './s3Home.ts'
import { storeSuite } from './suite.ts'

let fake: FakeS3
let troubled: FakeS3
beforeAll(async () => {
  fake = await FakeS3.start('bucket')
  troubled = await FakeS3.start('bucket')
  troubled.faults = trouble(11)
})
afterAll(() => Promise.all([fake.stop(), troubled.stop()]))

let count = 0
const traits = { contentEtags: true }
storeSuite('S3 store', async () => s3Store(fake, { spec: s3Spec(fake, `plain/${count++}`) }), traits)
storeSuite(
  'S3 store in small pages, amid 409, 500, 502, 503, lost and cut answers',
  async () => s3Store(troubled, { spec: s3Spec(troubled, `${count++}`), tries: 12, pageKeys: 7 }),
  traits,
)
