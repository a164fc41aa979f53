/** Every API that has a definition, by key. A new API is one file in messages/ and two lines here. */
import { produce } from './messages/00_produce.ts'
import { fetch } from './messages/01_fetch.ts'
import { listOffsets } from './messages/02_listOffsets.ts'
import { metadata } from './messages/03_metadata.ts'
import { offsetCommit } from './messages/08_offsetCommit.ts'
import { offsetFetch } from './messages/09_offsetFetch.ts'
import { findCoordinator } from './messages/10_findCoordinator.ts'
import { joinGroup } from './messages/11_joinGroup.ts'
import { heartbeat } from './messages/12_heartbeat.ts'
import { leaveGroup } from './messages/13_leaveGroup.ts'
import { syncGroup } from './messages/14_syncGroup.ts'
import { describeGroups } from './messages/15_describeGroups.ts'
import { listGroups } from './messages/16_listGroups.ts'
import { apiVersions } from './messages/18_apiVersions.ts'
import { createTopics } from './messages/19_createTopics.ts'
import { deleteTopics } from './messages/20_deleteTopics.ts'
import { deleteRecords } from './messages/21_deleteRecords.ts'
import { initProducerId } from './messages/22_initProducerId.ts'
import { offsetForLeaderEpoch } from './messages/23_offsetForLeaderEpoch.ts'
import { addPartitionsToTxn } from './messages/24_addPartitionsToTxn.ts'
import { addOffsetsToTxn } from './messages/25_addOffsetsToTxn.ts'
import { endTxn } from './messages/26_endTxn.ts'
import { writeTxnMarkers } from './messages/27_writeTxnMarkers.ts'
import { txnOffsetCommit } from './messages/28_txnOffsetCommit.ts'
import { describeConfigs } from './messages/32_describeConfigs.ts'
import { alterConfigs } from './messages/33_alterConfigs.ts'
import { describeLogDirs } from './messages/35_describeLogDirs.ts'
import { createPartitions } from './messages/37_createPartitions.ts'
import { deleteGroups } from './messages/42_deleteGroups.ts'
import { electLeaders } from './messages/43_electLeaders.ts'
import { incrementalAlterConfigs } from './messages/44_incrementalAlterConfigs.ts'
import { alterPartitionReassignments } from './messages/45_alterPartitionReassignments.ts'
import { listPartitionReassignments } from './messages/46_listPartitionReassignments.ts'
import { offsetDelete } from './messages/47_offsetDelete.ts'
import { describeClientQuotas } from './messages/48_describeClientQuotas.ts'
import { describeQuorum } from './messages/55_describeQuorum.ts'
import { updateFeatures } from './messages/57_updateFeatures.ts'
import { describeCluster } from './messages/60_describeCluster.ts'
import { describeProducers } from './messages/61_describeProducers.ts'
import { describeTransactions } from './messages/65_describeTransactions.ts'
import { listTransactions } from './messages/66_listTransactions.ts'
import { consumerGroupHeartbeat } from './messages/68_consumerGroupHeartbeat.ts'
import { consumerGroupDescribe } from './messages/69_consumerGroupDescribe.ts'
import { listConfigResources } from './messages/74_listConfigResources.ts'
import { describeTopicPartitions } from './messages/75_describeTopicPartitions.ts'
import type { MessageInput, MessageOf } from './schema.ts'

export const apis = {
  0: produce,
  1: fetch,
  2: listOffsets,
  3: metadata,
  8: offsetCommit,
  9: offsetFetch,
  10: findCoordinator,
  11: joinGroup,
  12: heartbeat,
  13: leaveGroup,
  14: syncGroup,
  15: describeGroups,
  16: listGroups,
  18: apiVersions,
  19: createTopics,
  20: deleteTopics,
  21: deleteRecords,
  22: initProducerId,
  23: offsetForLeaderEpoch,
  24: addPartitionsToTxn,
  25: addOffsetsToTxn,
  26: endTxn,
  27: writeTxnMarkers,
  28: txnOffsetCommit,
  32: describeConfigs,
  33: alterConfigs,
  35: describeLogDirs,
  37: createPartitions,
  42: deleteGroups,
  43: electLeaders,
  44: incrementalAlterConfigs,
  45: alterPartitionReassignments,
  46: listPartitionReassignments,
  47: offsetDelete,
  48: describeClientQuotas,
  55: describeQuorum,
  57: updateFeatures,
  60: describeCluster,
  61: describeProducers,
  65: describeTransactions,
  66: listTransactions,
  68: consumerGroupHeartbeat,
  69: consumerGroupDescribe,
  74: listConfigResources,
  75: describeTopicPartitions,
} as const

export type Apis = typeof apis

/** The keys of the APIs that have a definition. */
export type ApiKey = keyof Apis

/** A decoded request: every field is there. */
export type RequestOf<K extends ApiKey> = MessageOf<Apis[K]['request']>

/** A response to encode: fields with a default may be left out. */
export type ResponseOf<K extends ApiKey> = MessageInput<Apis[K]['response']>

export function isApiKey(key: number): key is ApiKey {
  return Object.hasOwn(apis, key)
}
