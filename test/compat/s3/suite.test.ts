import { randomUUID } from 'node:crypto'
import { CreateBucketCommand } from '@aws-sdk/client-s3'
import { beforeAll } from 'vitest'
import { s3Client } from '../../../src/storage/s3/client.ts'
import { S3Store } from '../../../src/storage/s3/store.ts'
import type { S3Spec } from '../../../src/storage/store.ts'
import { storeSuite } from '../../unit/storage/suite.ts'

/**
 * The suite of every store against a real S3 server (servers.sh), which the usual environment names; run by suite.sh.
 */
const endpoint = process.env['AWS_ENDPOINT_URL']!
const run = randomUUID()
const spec = (prefix: string): S3Spec => ({ kind: 's3', bucket: 'frazil', prefix, endpoint, region: 'us-east-1', pathStyle: true })

beforeAll(async () => {
  const client = s3Client(spec(''))
  // it may be there already
  await client.send(new CreateBucketCommand({ Bucket: 'frazil' })).catch(() => undefined)
  client.destroy()
})

let count = 0
storeSuite(`S3 store on ${endpoint}`, async () => new S3Store({ spec: spec(`${run}/${count++}`), pageKeys: 100 }), { contentEtags: true })
