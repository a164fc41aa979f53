/**
 * DeleteRecords: moves the log start of partitions up; offset -1 stands for the high watermark.
 *
 * v2 flexible.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const deleteRecordsRequest = message({
  name: 'DeleteRecordsRequest',
  validVersions: '0-2',
  flexibleVersions: '2+',
  fields: {
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            offset: { type: 'int64', versions: '0+' },
          },
        },
      },
    },
    timeoutMs: { type: 'int32', versions: '0+' },
  },
})

export const deleteRecordsResponse = message({
  name: 'DeleteRecordsResponse',
  validVersions: '0-2',
  flexibleVersions: '2+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0+' },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            lowWatermark: { type: 'int64', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
          },
        },
      },
    },
  },
})

export type DeleteRecordsRequest = MessageOf<typeof deleteRecordsRequest>
export type DeleteRecordsResponse = MessageInput<typeof deleteRecordsResponse>

export const deleteRecords = api({ key: 21, name: 'DeleteRecords', request: deleteRecordsRequest, response: deleteRecordsResponse })
