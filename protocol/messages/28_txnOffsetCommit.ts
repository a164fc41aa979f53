/**
 * TxnOffsetCommit: offsets of a consumer group that become valid when their transaction commits.
 *
 * v2 leader epoch, v3 flexible, and the member that commits (KIP-447), v4 TRANSACTION_ABORTABLE, v5 adds the group to the transaction by itself
 * (KIP-890), v6 topic ids instead of names (KIP-1319).
 */
import { api, message } from '../schema.ts'
import type { MessageInput, MessageOf } from '../schema.ts'

export const txnOffsetCommitRequest = message({
  name: 'TxnOffsetCommitRequest',
  validVersions: '0-6',
  flexibleVersions: '3+',
  fields: {
    transactionalId: { type: 'string', versions: '0+' },
    groupId: { type: 'string', versions: '0+' },
    producerId: { type: 'int64', versions: '0+' },
    producerEpoch: { type: 'int16', versions: '0+' },
    generationIdOrMemberEpoch: { type: 'int32', versions: '3+', default: -1 },
    memberId: { type: 'string', versions: '3+', default: '' },
    groupInstanceId: { type: 'string', versions: '3+', nullable: '3+', default: null },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0-5', ignorable: true },
        topicId: { type: 'uuid', versions: '6+', ignorable: true },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            committedOffset: { type: 'int64', versions: '0+' },
            committedLeaderEpoch: { type: 'int32', versions: '2+', default: -1, ignorable: true },
            committedMetadata: { type: 'string', versions: '0+', nullable: '0+' },
          },
        },
      },
    },
  },
})

export const txnOffsetCommitResponse = message({
  name: 'TxnOffsetCommitResponse',
  validVersions: '0-6',
  flexibleVersions: '3+',
  fields: {
    throttleTimeMs: { type: 'int32', versions: '0+' },
    topics: {
      type: 'array',
      versions: '0+',
      fields: {
        name: { type: 'string', versions: '0-5', ignorable: true },
        topicId: { type: 'uuid', versions: '6+', ignorable: true },
        partitions: {
          type: 'array',
          versions: '0+',
          fields: {
            partitionIndex: { type: 'int32', versions: '0+' },
            errorCode: { type: 'int16', versions: '0+' },
          },
        },
      },
    },
  },
})

export type TxnOffsetCommitRequest = MessageOf<typeof txnOffsetCommitRequest>
export type TxnOffsetCommitResponse = MessageInput<typeof txnOffsetCommitResponse>

export const txnOffsetCommit = api({ key: 28, name: 'TxnOffsetCommit', request: txnOffsetCommitRequest, response: txnOffsetCommitResponse })
