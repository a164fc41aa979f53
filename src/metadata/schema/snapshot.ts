import { loadSchema } from './load.ts'

/** Snapshots written now. One with a higher version is not read: the one before it, or the log, is. */
export const SNAPSHOT_VERSION = 1

/**
 * A snapshot on disk, frozen (docs/FORMATS.md): the whole state, flat tables as packed columns. Rows are sorted by their
 * identity; field names are those of data.ts.
 */
export const SNAPSHOT_PROTO = `
syntax = "proto3";
package frazil.snapshot;

message Snapshot {
  uint32 version = 1;
  bytes lastHash = 2;           // of the last entry included (L3)
  bytes stateHash = 3;          // SHA-256 over the fixed serialization of the state (hash.ts), not over these bytes
  State state = 4;
}

message State {
  Cluster cluster = 1;
  repeated Topic topics = 2;
  Extents extents = 3;
  Producers producers = 4;
  Objects objects = 5;
  repeated Table tables = 6;
  Deletions deletions = 7;
  repeated Configs brokerConfigs = 8;
  repeated Configs groupConfigs = 9;
  repeated double shardOwners = 10;
  repeated double shardEpochs = 11;
  repeated Group groups = 12;
  repeated Pod pods = 13;
  repeated Incarnation incarnations = 14;
  repeated Lease leases = 15;         // none before level 2
  Schemas schemas = 30;               // absent while there are none
  repeated TransactionalId transactionalIds = 16;   // this and the next two: none before level 2
  OpenTransactions openTransactions = 17;
  AbortedTransactions abortedTransactions = 18;
  repeated Hold holds = 40;           // none before level 3
}

message Cluster {
  string clusterId = 1;
  uint64 lastEntry = 2;
  int64 lastTimeMs = 3;
  uint32 level = 4;
  uint32 timeline = 5;
  uint64 nextTopic = 6;
  uint64 nextObject = 7;
  uint64 nextFile = 8;
  uint64 nextDeletion = 9;
  uint64 nextProducerId = 10;
  uint64 nextIncarnation = 11;
  uint64 nextNode = 12;
}

message Topic {
  uint64 topic = 1;
  string topicId = 2;
  string name = 3;
  int64 createdMs = 4;
  uint64 configVersion = 5;
  Configs configs = 6;
  repeated uint64 logStartOffsets = 7;
  repeated uint64 endOffsets = 8;
  repeated uint32 extentCounts = 9;
  repeated uint32 epochCounts = 10;
  repeated uint32 epochs = 11;
  repeated uint64 epochStartOffsets = 12;
}
message Configs { string name = 1; repeated string keys = 2; repeated string values = 3; }

// By topic, partition and offset. A WAL extent has its object and byte offset; a table extent has place 2^32-1 and the
// number of its files, which stand one after the other in 'files'; a marker has place 2^32-3 (commit) or 2^32-4 (abort) and
// producer id * 2^15 + epoch (level 2).
message Extents {
  repeated uint64 firstOffsets = 1;
  repeated uint64 lastOffsets = 2;
  repeated sint64 maxTimestampsMs = 3;
  repeated uint64 originalBytes = 4;
  repeated sint64 commitTimesMs = 5;
  repeated uint64 where = 6;
  repeated uint32 places = 7;
  repeated uint64 files = 8;
}

// By topic, partition and producer id; the batches of a producer stand one after the other, oldest first.
message Producers {
  repeated uint64 topics = 1;
  repeated uint32 partitions = 2;
  repeated uint64 producerIds = 3;
  repeated uint32 epochs = 4;
  repeated sint64 lastAppendsMs = 5;
  repeated uint32 batchCounts = 6;
  repeated uint32 firstSequences = 7;
  repeated uint32 counts = 8;
  repeated uint64 firstOffsets = 9;
  repeated sint64 appendTimesMs = 10;
}

message Objects {
  repeated uint64 ids = 1;
  repeated string keys = 2;
  repeated uint64 entries = 3;
  repeated uint64 entryOffsets = 4;
  repeated uint64 sizesBytes = 5;
  repeated uint64 liveBytes = 6;
  repeated uint32 segments = 7;
  repeated sint64 createdMs = 8;
}

message Table {
  string uuid = 1;
  uint64 topic = 2;
  string namespace = 3;
  string name = 4;
  string location = 5;
  string metadataKey = 6;
  uint64 version = 7;
  uint64 publication = 8;
  sint64 snapshotId = 9;
  sint64 dataTimeMs = 10;
  sint64 createdMs = 11;
  sint64 committedMs = 12;
  repeated File files = 13;
  uint64 typingVersion = 20;
  string typingKey = 21;
}
message File {
  uint64 id = 1;
  string key = 2;
  uint64 sizeBytes = 3;
  uint64 rows = 4;
  uint32 level = 5;
  repeated uint32 partitions = 6;
  repeated uint64 firstOffsets = 7;
  repeated uint64 lastOffsets = 8;
  repeated uint64 rangeRows = 9;
  repeated sint64 maxTimestampsMs = 10;
  repeated uint64 originalBytes = 11;
}

message Deletions { repeated uint64 ids = 1; repeated string keys = 2; repeated sint64 duesMs = 3; }

message Group {
  string groupId = 1;
  string protocolType = 2;
  optional string protocolName = 3;
  int32 generation = 4;
  optional string leader = 5;
  repeated Member members = 6;
  sint64 stateTimeMs = 7;
  repeated Offset offsets = 8;
  ConsumerGroup consumer = 9;   // absent for a classic group, as before level 2
}
message ConsumerGroup { ConsumerGroupHead head = 1; repeated ConsumerMember members = 2; }
message ConsumerGroupHead {
  string groupId = 1;
  uint32 epoch = 2;
  uint32 assignmentEpoch = 3;
  string topicsHash = 4;
  string assignor = 5;
  sint64 stateTimeMs = 6;
  uint64 revision = 7;          // this and the next: none before level 3
  sint64 assignedAtMs = 8;
}
message ConsumerMember {
  string memberId = 1;
  optional string instanceId = 2;
  optional string rackId = 3;
  string clientId = 4;
  string clientHost = 5;
  sint32 rebalanceTimeoutMs = 6;
  repeated string topics = 7;
  optional string regex = 8;
  optional string assignor = 9;
  sint32 epoch = 10;
  sint32 previousEpoch = 11;
  uint32 phase = 12;            // 0 stable, 1 must revoke, 2 waits for others
  repeated OwnedPartitions assigned = 13;
  repeated OwnedPartitions revoking = 14;
  repeated OwnedPartitions target = 15;
  ClassicPart classic = 16;     // none before level 3
}
message ClassicPart { sint32 sessionTimeoutMs = 1; repeated Protocol protocols = 2; }
message OwnedPartitions {
  string topicId = 1;
  repeated uint32 partitions = 2;
  repeated uint32 epochs = 3;   // none before level 3
}
message Member {
  string memberId = 1;
  optional string instanceId = 2;
  string clientId = 3;
  string clientHost = 4;
  int32 rebalanceTimeoutMs = 5;
  int32 sessionTimeoutMs = 6;
  repeated Protocol protocols = 7;
  bytes assignment = 8;
}
message Protocol { string name = 1; bytes metadata = 2; }
message Offset {
  uint64 topic = 1;
  uint32 partition = 2;
  sint64 offset = 3;
  sint32 leaderEpoch = 4;
  string metadata = 5;
  sint64 commitTimeMs = 6;
  sint64 expireTimeMs = 7;
}

// Contexts by name, contents by id, subjects by context and name, versions ascending.
message Schemas {
  uint64 revision = 1;
  repeated SchemaContext contexts = 2;
  repeated SchemaSubject subjects = 3;
  repeated SchemaSettings settings = 4;
}
message SchemaContext { string name = 1; uint64 nextId = 2; repeated SchemaContent contents = 3; }
message SchemaContent { uint32 id = 1; string guid = 2; bytes body = 3; repeated SchemaReference references = 4; }
message SchemaReference { string context = 1; string subject = 2; uint32 version = 3; }
message SchemaSubject {
  string context = 1;
  string subject = 2;
  uint64 revision = 3;
  repeated uint32 versions = 4;
  repeated uint32 ids = 5;
  repeated uint32 deleted = 6;
}
message SchemaSettings { string context = 1; string subject = 2; string config = 3; string mode = 4; }
message TransactionalId {
  string transactionalId = 1;
  uint64 producerId = 2;
  sint64 previousProducerId = 3;
  uint32 producerEpoch = 4;
  sint32 lastEpoch = 5;
  sint32 timeoutMs = 6;
  uint32 status = 7;            // 0 empty, 1 ongoing, 2 committed, 3 aborted
  sint64 startMs = 8;
  sint64 updateMs = 9;
  repeated uint64 topics = 10;
  repeated uint32 partitions = 11;
  repeated PendingGroup groups = 12;
}
message PendingGroup { string groupId = 1; repeated Offset offsets = 2; }
message OpenTransactions {
  repeated uint64 topics = 1;
  repeated uint32 partitions = 2;
  repeated uint64 producerIds = 3;
  repeated uint64 firstOffsets = 4;
}
message AbortedTransactions {
  repeated uint64 topics = 1;
  repeated uint32 partitions = 2;
  repeated uint32 counts = 3;
  repeated uint64 rows = 4;     // producer id, first offset, marker's offset, last stable offset after it
}

message Pod { string name = 1; uint64 nodeId = 2; uint64 incarnation = 3; }
message Incarnation {
  uint64 incarnation = 1;
  string pod = 2;
  string nonce = 3;
  uint32 level = 4;
  bool live = 5;
  uint64 renewals = 6;
  uint64 lastSequence = 7;
  uint64 lastWalSequence = 8;
  PodAbout about = 9;           // none before it was announced
}
message PodAbout { repeated PodListener listeners = 1; string rack = 2; string peer = 3; uint32 phase = 4; }
message PodListener { string name = 1; string host = 2; uint32 port = 3; }
message Hold { string name = 1; int64 untilMs = 2; }
message Lease { string name = 1; uint64 owner = 2; uint64 term = 3; }
`

export const SnapshotType = loadSchema(SNAPSHOT_PROTO).lookupType('frazil.snapshot.Snapshot')
