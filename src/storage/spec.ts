import { FrazilError } from '../base/errors.ts'
import { folderOf } from '../base/config/load.ts'
import type { Settings } from '../base/config/settings.ts'
import { parseS3 } from './s3/spec.ts'
import type { S3Spec, StoreSpec } from './store.ts'

/**
 * The store that `file:FOLDER` or `s3://BUCKET/PREFIX` names; `environment` as the AWS SDK knows it.
 * Errors: SETTING_INVALID with the setting's name.
 */
export function storeSpec(
  setting: string,
  text: string,
  settings: Pick<Settings, 'fsync' | 's3Endpoint' | 's3PathStyle'>,
  environment: Readonly<Record<string, string | undefined>>,
): S3Spec | Extract<StoreSpec, { kind: 'folder' }> {
  if (/^s3a?:/.test(text)) return parseS3(setting, text, { endpoint: settings.s3Endpoint, pathStyle: settings.s3PathStyle }, environment)
  if (!text.startsWith('file:'))
    throw new FrazilError(
      'SETTING_INVALID',
      `${setting}: ${text} must be file:FOLDER or s3://BUCKET/PREFIX${setting === 'metadata' ? ' or postgres://…' : ''}`,
    )
  return { kind: 'folder', path: folderOf(setting, text), fsync: settings.fsync }
}

/**
 * Where engines find the files of a store, as properties of Iceberg's file IO (`s3.endpoint`, …); no credentials. What the
 * SDK finds by itself is left to the engines too.
 */
export function engineProperties(spec: StoreSpec): Readonly<Record<string, string>> {
  if (spec.kind !== 's3') return {}
  return {
    ...(spec.endpoint === null ? {} : { 's3.endpoint': spec.endpoint }),
    ...(spec.pathStyle ? { 's3.path-style-access': 'true' } : {}),
    ...(spec.region === null ? {} : { 's3.region': spec.region, 'client.region': spec.region }),
  }
}
