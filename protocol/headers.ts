/**
 * Request and response headers. Request v1: key, version, correlation id, client id; v2 adds tagged fields, while the client id keeps its
 * int16 length. Response v0 is the correlation id alone; v1 adds tagged fields. The response to ApiVersions always has header v0, so that
 * a client which does not yet know the broker can read it (KIP-511).
 */
import { message } from './schema.ts'
import type { Api, MessageOf } from './schema.ts'
import { inRange, parseVersions } from './versions.ts'

export const requestHeader = message({
  name: 'RequestHeader',
  validVersions: '1-2',
  flexibleVersions: '2+',
  fields: {
    requestApiKey: { type: 'int16', versions: '0+' },
    requestApiVersion: { type: 'int16', versions: '0+' },
    correlationId: { type: 'int32', versions: '0+' },
    clientId: { type: 'string', versions: '1+', nullable: '1+', flexible: 'none' },
  },
})

export const responseHeader = message({
  name: 'ResponseHeader',
  validVersions: '0-1',
  flexibleVersions: '1+',
  fields: {
    correlationId: { type: 'int32', versions: '0+' },
  },
})

export type RequestHeader = MessageOf<typeof requestHeader>
export type ResponseHeader = MessageOf<typeof responseHeader>

const API_VERSIONS_KEY = 18

/** The header version of a request of this version, also for versions too new to be valid. */
export function requestHeaderVersion(api: Api, version: number): 1 | 2 {
  return inRange(parseVersions(api.request.flexibleVersions), version) ? 2 : 1
}

/** The header version of the response to a request of this version. */
export function responseHeaderVersion(api: Api, version: number): 0 | 1 {
  if (api.key === API_VERSIONS_KEY) return 0
  return inRange(parseVersions(api.response.flexibleVersions), version) ? 1 : 0
}
