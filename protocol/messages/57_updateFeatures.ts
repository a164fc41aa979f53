/**
 * UpdateFeatures: raises and lowers finalized features (KIP-584).
 *
 * v0 is flexible already; v1 kinds of upgrades and validate-only, v2 without results by feature.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const updateFeaturesRequest = message({
  name: 'UpdateFeaturesRequest',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    timeoutMs: { type: 'int32', versions: '0+', default: 60000 },
    featureUpdates: {
      type: 'array',
      versions: '0+',
      fields: {
        feature: { type: 'string', versions: '0+' },
        maxVersionLevel: { type: 'int16', versions: '0+' },
        allowDowngrade: { type: 'bool', versions: '0' },
        upgradeType: { type: 'int8', versions: '1+', default: 1 },
      },
    },
    validateOnly: { type: 'bool', versions: '1+', default: false },
  },
})

export const updateFeaturesResponse = message({
  name: 'UpdateFeaturesResponse',
  validVersions: '0-2',
  flexibleVersions: '0+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '0+' },
    errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
    results: {
      type: 'array',
      versions: '0-1',
      ignorable: true,
      fields: {
        feature: { type: 'string', versions: '0+' },
        errorCode: { type: 'int16', versions: '0+' },
        errorMessage: { type: 'string', versions: '0+', nullable: '0+' },
      },
    },
  },
})

export type UpdateFeaturesRequest = MessageOf<typeof updateFeaturesRequest>
export type UpdateFeaturesResponse = MessageInput<typeof updateFeaturesResponse>

export const updateFeatures = api({ key: 57, name: 'UpdateFeatures', request: updateFeaturesRequest, response: updateFeaturesResponse })
