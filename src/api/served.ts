import produce from './00_produce.ts'
import fetch from './01_fetch.ts'
import listOffsets from './02_listOffsets.ts'
import metadata from './03_metadata.ts'
import offsetCommit from './08_offsetCommit.ts'
import offsetFetch from './09_offsetFetch.ts'
import findCoordinator from './10_findCoordinator.ts'
import joinGroup from './11_joinGroup.ts'
import heartbeat from './12_heartbeat.ts'
import leaveGroup from './13_leaveGroup.ts'
import syncGroup from './14_syncGroup.ts'
import describeGroups from './15_describeGroups.ts'
import listGroups from './16_listGroups.ts'
import { apiVersions } from './18_apiVersions.ts'
import createTopics from './19_createTopics.ts'
import deleteTopics from './20_deleteTopics.ts'
import deleteRecords from './21_deleteRecords.ts'
import initProducerId from './22_initProducerId.ts'
import offsetForLeaderEpoch from './23_offsetForLeaderEpoch.ts'
import addPartitionsToTxn from './24_addPartitionsToTxn.ts'
import addOffsetsToTxn from './25_addOffsetsToTxn.ts'
import endTxn from './26_endTxn.ts'
import writeTxnMarkers from './27_writeTxnMarkers.ts'
import txnOffsetCommit from './28_txnOffsetCommit.ts'
import describeConfigs from './32_describeConfigs.ts'
import alterConfigs from './33_alterConfigs.ts'
import describeLogDirs from './35_describeLogDirs.ts'
import createPartitions from './37_createPartitions.ts'
import deleteGroups from './42_deleteGroups.ts'
import electLeaders from './43_electLeaders.ts'
import incrementalAlterConfigs from './44_incrementalAlterConfigs.ts'
import alterPartitionReassignments from './45_alterPartitionReassignments.ts'
import listPartitionReassignments from './46_listPartitionReassignments.ts'
import offsetDelete from './47_offsetDelete.ts'
import describeClientQuotas from './48_describeClientQuotas.ts'
import describeQuorum from './55_describeQuorum.ts'
import updateFeatures from './57_updateFeatures.ts'
import describeCluster from './60_describeCluster.ts'
import describeProducers from './61_describeProducers.ts'
import describeTransactions from './65_describeTransactions.ts'
import listTransactions from './66_listTransactions.ts'
import consumerGroupHeartbeat from './68_consumerGroupHeartbeat.ts'
import consumerGroupDescribe from './69_consumerGroupDescribe.ts'
import listConfigResources from './74_listConfigResources.ts'
import describeTopicPartitions from './75_describeTopicPartitions.ts'
import type { ServedApi } from './handler.ts'

const others = [
  produce,
  fetch,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
  findCoordinator,
  joinGroup,
  heartbeat,
  leaveGroup,
  syncGroup,
  describeGroups,
  listGroups,
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  addPartitionsToTxn,
  addOffsetsToTxn,
  endTxn,
  writeTxnMarkers,
  txnOffsetCommit,
  describeConfigs,
  alterConfigs,
  describeLogDirs,
  createPartitions,
  deleteGroups,
  electLeaders,
  incrementalAlterConfigs,
  alterPartitionReassignments,
  listPartitionReassignments,
  offsetDelete,
  describeClientQuotas,
  describeQuorum,
  updateFeatures,
  describeCluster,
  describeProducers,
  describeTransactions,
  listTransactions,
  consumerGroupHeartbeat,
  consumerGroupDescribe,
  listConfigResources,
  describeTopicPartitions,
] as unknown as readonly ServedApi[]

/** Every API that is served; a new one is one file and two lines here. What is not served, and why: NOT_SERVED.md. */
export const SERVED: readonly ServedApi[] = [...others, apiVersions(others) as unknown as ServedApi]
