import { FrazilError } from '../../base/errors.ts'
import { checkKey } from '../keys.ts'
import type { S3Spec } from '../store.ts'

/**
 * The place that `s3://bucket/prefix` names. `environment` gives the region (AWS_REGION, AWS_DEFAULT_REGION) and the endpoint
 * (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL) where no setting does; with an endpoint and no region it is us-east-1, which servers
 * other than AWS take. Errors: SETTING_INVALID.
 */
export function parseS3(
  setting: string,
  text: string,
  options: { readonly endpoint: string; readonly pathStyle: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): S3Spec {
  const bad = (why: string): FrazilError => new FrazilError('SETTING_INVALID', `${setting}: ${text} ${why}`)
  const match = /^s3a?:\/\/([^/?#]*)(?:\/([^?#]*))?$/.exec(text)
  if (match === null) throw bad('must be s3://BUCKET or s3://BUCKET/PREFIX')
  const bucket = match[1]!
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) throw bad('names no bucket: 3 to 63 of a-z, 0-9, "-" and "."')
  const prefix = (match[2] ?? '').replace(/\/+$/, '')
  if (prefix !== '') {
    try {
      checkKey(prefix)
    } catch (error) {
      throw bad(`has a prefix that no key can have: ${(error as Error).message}`)
    }
    if (Buffer.byteLength(prefix) > 200) throw bad('has a prefix of more than 200 bytes')
  }
  const endpoint = first(options.endpoint, environment['AWS_ENDPOINT_URL_S3'], environment['AWS_ENDPOINT_URL'])
  if (endpoint !== null && !isHttp(endpoint)) {
    throw new FrazilError(
      'SETTING_INVALID',
      `s3-endpoint: ${endpoint} must be a URL such as https://s3.example.com or http://127.0.0.1:9000`,
    )
  }
  const region = first(environment['AWS_REGION'], environment['AWS_DEFAULT_REGION']) ?? (endpoint === null ? null : 'us-east-1')
  return { kind: 's3', bucket, prefix, endpoint, region, pathStyle: options.pathStyle }
}

function first(...candidates: readonly (string | undefined)[]): string | null {
  return candidates.find((one) => one !== undefined && one !== '') ?? null
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
