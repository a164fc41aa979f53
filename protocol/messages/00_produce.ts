/**
 * Produce: appends record batches to partitions.
 *
 * v3 is the first served: magic 2 batches, transactional id. v5 the log start offset, v7 zstd, v8 errors per record, v9 flexible, v10 a hint of
 * the new leader (KIP-951), v11 TRANSACTION_ABORTABLE, v12 joins the partition to its transaction implicitly (KIP-890), v13 topic ids instead
 * of names. v0-2 are advertised, never served: librdkafka before 2.11.1 looks whether v0 is in range before it compresses (KAFKA-18659).
 * With acks 0 there is no response at all.
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const produceRequest = message({
  name: 'ProduceRequest',
  validVersions: '3-13',
  flexibleVersions: '9+',
  fields: {
    transactionalId: { type: 'string', versions: '3+', nullable: '3+', default: null },
    acks: { type: 'int16', versions: '0+' },
    timeoutMs: { type: 'int32', versions: '0+' },
    topicData: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0-12', ignorable: true },
        topicId: { type: 'uuid', versions: '13+', ignorable: true },
        partitionData: {
          type: 'array',
          versions: '0+',
          fields: {
            index: { type: 'int32', versions: '0+' },
            records: { type: 'records', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
  },
})

export const produceResponse = message({
  name: 'ProduceResponse',
  validVersions: '3-13',
  flexibleVersions: '9+',
  fields: {
    responses: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0-12', ignorable: true },
        topicId: { type: 'uuid', versions: '13+', ignorable: true },
        partitionResponses: {
          type: 'array',
          versions: '0+',
          fields: {
            index: { type: 'int32', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
            baseOffset: { type: 'int64', versions: '0+' },
            logAppendTimeMs: { type: 'int64', versions: '2+', default: -1, ignorable: true },
            logStartOffset: { type: 'int64', versions: '5+', default: -1, ignorable: true },
            recordErrors: {
              type: 'array',
              versions: '8+',
              ignorable: true,
              fields: {
                batchIndex: { type: 'int32', versions: '8+' },
                batchIndexErrorMessage: { type: 'string', versions: '8+', nullable: '8+', default: null },
              },
            },
            errorMessage: { type: 'string', versions: '8+', nullable: '8+', default: null, ignorable: true },
            currentLeader: {
              type: 'struct',
              versions: '10+',
              tag: 0,
              fields: {
                leaderId: { type: 'int32', versions: '10+', default: -1 },
                leaderEpoch: { type: 'int32', versions: '10+', default: -1 },
              },
            },
          },
        },
      },
    },
    throttleTimeMs: { type: 'int32', versions: '1+', default: 0, ignorable: true },
    nodeEndpoints: {
      type: 'array',
      versions: '10+',
      tag: 0,
      fields: {
        nodeId: { type: 'int32', versions: '10+' },
        host: { type: 'string', versions: '10+' },
        port: { type: 'int32', versions: '10+' },
        rack: { type: 'string', versions: '10+', nullable: '10+', default: null },
      },
    },
  },
})

export type ProduceRequest = MessageOf<typeof produceRequest>
export type ProduceResponse = MessageInput<typeof produceResponse>

export const produce = api({ key: 0, name: 'Produce', request: produceRequest, response: produceResponse, advertisedMinVersion: 0 })
