/**
 * Fetch: reads record batches from an offset on, waiting up to a time for a number of bytes.
 *
 * v4 is the first served: isolation level and aborted transactions. v5 log start offset, v7 incremental sessions (KIP-227), v9 leader epoch
 * fencing, v11 rack and preferred replica (KIP-392), v12 flexible and diverging epochs, v13 topic ids instead of names, v15 moves the replica id
 * into a tagged struct (KIP-903), v16 endpoints of new leaders (KIP-951), v17 and v18 are for replicas. Partitions are filled in request order.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const fetchRequest = message({
  name: 'FetchRequest',
  validVersions: '4-18',
  flexibleVersions: '12+',
  fields: {
    clusterId: { type: 'string', versions: '12+', nullable: '12+', tag: 0, default: null, ignorable: true },
    replicaId: { type: 'int32', versions: '0-14', default: -1 },
    replicaState: {
      type: 'struct',
      versions: '15+',
      tag: 1,
      fields: {
        replicaId: { type: 'int32', versions: '15+', default: -1 },
        replicaEpoch: { type: 'int64', versions: '15+', default: -1 },
      },
    },
    maxWaitMs: { type: 'int32', versions: '0+' },
    minBytes: { type: 'int32', versions: '0+' },
    maxBytes: { type: 'int32', versions: '3+', default: 2147483647, ignorable: true },
    isolationLevel: { type: 'int8', versions: '4+', default: 0, ignorable: true },
    sessionId: { type: 'int32', versions: '7+', default: 0, ignorable: true },
    sessionEpoch: { type: 'int32', versions: '7+', default: -1, ignorable: true },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        topic: { type: 'string', versions: '0-12', ignorable: true },
        topicId: { type: 'uuid', versions: '13+', ignorable: true },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partition: { type: 'int32', versions: '0+' },
            currentLeaderEpoch: { type: 'int32', versions: '9+', default: -1, ignorable: true },
            fetchOffset: { type: 'int64', versions: '0+' },
            lastFetchedEpoch: { type: 'int32', versions: '12+', default: -1 },
            logStartOffset: { type: 'int64', versions: '5+', default: -1, ignorable: true },
            partitionMaxBytes: { type: 'int32', versions: '0+' },
            replicaDirectoryId: { type: 'uuid', versions: '17+', tag: 0, ignorable: true },
            highWatermark: { type: 'int64', versions: '18+', tag: 1, default: 2 ** 63, ignorable: true },
          },
        },
      },
    },
    forgottenTopicsData: {
      type: 'array',
      versions: '7+',
      fields: {
        topic: { type: 'string', versions: '7-12', ignorable: true },
        topicId: { type: 'uuid', versions: '13+', ignorable: true },
        partitions: { type: 'array', of: 'int32', versions: '7+' },
      },
    },
    rackId: { type: 'string', versions: '11+', default: '', ignorable: true },
  },
})

export const fetchResponse = message({
  name: 'FetchResponse',
  validVersions: '4-18',
  flexibleVersions: '12+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '1+', ignorable: true },
    errorCode: { type: 'int16', versions: '7+', ignorable: true },
    sessionId: { type: 'int32', versions: '7+', default: 0 },
    responses: {
      type: 'array',
      versions: '0+',
      fields: {
        topic: { type: 'string', versions: '0-12', ignorable: true },
        topicId: { type: 'uuid', versions: '13+', ignorable: true },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
            highWatermark: { type: 'int64', versions: '0+' },
            lastStableOffset: { type: 'int64', versions: '4+', default: -1, ignorable: true },
            logStartOffset: { type: 'int64', versions: '5+', default: -1, ignorable: true },
            divergingEpoch: {
              type: 'struct',
              versions: '12+',
              tag: 0,
              fields: {
                epoch: { type: 'int32', versions: '12+', default: -1 },
                endOffset: { type: 'int64', versions: '12+', default: -1 },
              },
            },
            currentLeader: {
              type: 'struct',
              versions: '12+',
              tag: 1,
              fields: {
                leaderId: { type: 'int32', versions: '12+', default: -1 },
                leaderEpoch: { type: 'int32', versions: '12+', default: -1 },
              },
            },
            snapshotId: {
              type: 'struct',
              versions: '12+',
              tag: 2,
              fields: {
                endOffset: { type: 'int64', versions: '0+', default: -1 },
                epoch: { type: 'int32', versions: '0+', default: -1 },
              },
            },
            abortedTransactions: {
              type: 'array',
              versions: '4+',
              nullable: '4+',
              ignorable: true,
              fields: {
                producerId: { type: 'int64', versions: '4+' },
                firstOffset: { type: 'int64', versions: '4+' },
              },
            },
            preferredReadReplica: { type: 'int32', versions: '11+', default: -1 },
            records: { type: 'records', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
    nodeEndpoints: {
      type: 'array',
      versions: '16+',
      tag: 0,
      fields: {
        nodeId: { type: 'int32', versions: '16+' },
        host: { type: 'string', versions: '16+' },
        port: { type: 'int32', versions: '16+' },
        rack: { type: 'string', versions: '16+', nullable: '16+', default: null },
      },
    },
  },
})

export type FetchRequest = MessageOf<typeof fetchRequest>
export type FetchResponse = MessageInput<typeof fetchResponse>

export const fetch = api({ key: 1, name: 'Fetch', request: fetchRequest, response: fetchResponse })
