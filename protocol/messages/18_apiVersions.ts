/**
 * ApiVersions: which APIs in which versions the broker serves; the first request of most clients.
 *
 * v3 flexible, names the client software and tells features in tagged fields; v4 lets a feature's minimum be 0 (KAFKA-17011), v5 lets the client
 * say which cluster and node it means (KIP-1242). A version too new is answered in v0 with error 35 and the range of this API alone. The
 * response header is always v0: the client does not know yet what the broker understands (KIP-511).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const apiVersionsRequest = message({
  name: 'ApiVersionsRequest',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    clientSoftwareName: { type: 'string', versions: '3+', ignorable: true },
    clientSoftwareVersion: { type: 'string', versions: '3+', ignorable: true },
    clusterId: { type: 'string', versions: '5+', nullable: '5+', default: null, ignorable: true },
    nodeId: { type: 'int32', versions: '5+', default: -1, ignorable: true },
  },
})

export const apiVersionsResponse = message({
  name: 'ApiVersionsResponse',
  validVersions: '0-5',
  flexibleVersions: '3+',
  fields: {
    errorCode: { type: 'int16', versions: '0+' },
    apiKeys: {
      type: 'array',
      versions: '0+',
      fields: {
        apiKey: { type: 'int16', versions: '0+' },
        minVersion: { type: 'int16', versions: '0+' },
        maxVersion: { type: 'int16', versions: '0+' },
      },
    },
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    supportedFeatures: {
      type: 'array',
      versions: '3+',
      tag: 0,
      ignorable: true,
      fields: {
        name: { type: 'string', versions: '3+' },
        minVersion: { type: 'int16', versions: '3+' },
        maxVersion: { type: 'int16', versions: '3+' },
      },
    },
    finalizedFeaturesEpoch: { type: 'int64', versions: '3+', tag: 1, default: -1, ignorable: true },
    finalizedFeatures: {
      type: 'array',
      versions: '3+',
      tag: 2,
      ignorable: true,
      fields: {
        name: { type: 'string', versions: '3+' },
        maxVersionLevel: { type: 'int16', versions: '3+' },
        minVersionLevel: { type: 'int16', versions: '3+' },
      },
    },
    zkMigrationReady: { type: 'bool', versions: '3+', tag: 3, default: false, ignorable: true },
  },
})

export type ApiVersionsRequest = MessageOf<typeof apiVersionsRequest>
export type ApiVersionsResponse = MessageInput<typeof apiVersionsResponse>

export const apiVersions = api({ key: 18, name: 'ApiVersions', request: apiVersionsRequest, response: apiVersionsResponse })
