/**
 * DescribeLogDirs: sizes of partitions by log directory of a node (KIP-113).
 *
 * v2 flexible, v3 a top-level error, v4 bytes of the volume (KIP-827), v5 cordoned directories (KIP-1066).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const describeLogDirsRequest = message({
  name: 'DescribeLogDirsRequest',
  validVersions: '1-5',
  flexibleVersions: '2+',
  fields: {
    topics: {
      type: 'array',
      versions: '0+',
      nullable: '0+',
      fields: { topic: { type: 'string', versions: '0+' }, partitions: { type: 'array', of: 'int32', versions: '0+' } },
    },
  },
})

export const describeLogDirsResponse = message({
  name: 'DescribeLogDirsResponse',
  validVersions: '1-5',
  flexibleVersions: '2+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    errorCode: { type: 'int16', versions: '3+', ignorable: true },
    results: {
      type: 'array',
      versions: '0+',
      fields: {
        errorCode: { type: 'int16', versions: '0+' },
        logDir: { type: 'string', versions: '0+' },
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
                partitionSize: { type: 'int64', versions: '0+' },
                offsetLag: { type: 'int64', versions: '0+' },
                isFutureKey: { type: 'bool', versions: '0+' },
              },
            },
          },
        },
        totalBytes: { type: 'int64', versions: '4+', default: -1, ignorable: true },
        usableBytes: { type: 'int64', versions: '4+', default: -1, ignorable: true },
        isCordoned: { type: 'bool', versions: '5+', default: false, ignorable: true },
      },
    },
  },
})

export type DescribeLogDirsRequest = MessageOf<typeof describeLogDirsRequest>
export type DescribeLogDirsResponse = MessageInput<typeof describeLogDirsResponse>

export const describeLogDirs = api({ key: 35, name: 'DescribeLogDirs', request: describeLogDirsRequest, response: describeLogDirsResponse })
