import type { S3Spec } from '../../../src/storage/store.ts'
import type { FakeS3 } from '../../lib/fakeS3.ts'

/** A place in a fake bucket. */
export function s3Spec(fake: FakeS3, prefix = ''): S3Spec {
  process.env['AWS_ACCESS_KEY_ID'] ??= 'test'
  process.env['AWS_SECRET_ACCESS_KEY'] ??= 'test'
  return { kind: 's3', bucket: 'bucket', prefix, endpoint: fake.endpoint, region: 'us-east-1', pathStyle: true }
}
