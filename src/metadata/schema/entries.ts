import { loadSchema } from './load.ts'

/** Entries written now. A reader that meets a higher one stops with LEVEL_UNKNOWN (L5). */
export const ENTRY_VERSION = 1

/**
 * Metadata entries on disk, frozen (docs/FORMATS.md): fields may be added under a new level, numbers are never used
 * again. Field names are those of commands.ts, so that commands encode and decode without a copy.
 */
export const ENTRIES_PROTO = `
syntax = "proto3";
package frazil.metadata;

message Entry {
  uint64 number = 1;
  bytes previousHash = 2;       // SHA-256 over the predecessor's hash and its bytes; 32 zero bytes for entry 1
  uint32 version = 3;
  int64 timeMs = 4;             // wall time of the writer, never below the predecessor's
  uint64 writer = 5;            // incarnation; 0 before the first registration
  uint64 attachmentBytes = 6;
  repeated Proposal proposals = 7;
}

message Proposal {
  uint64 incarnation = 1;       // 0 for registerIncarnation
  uint64 sequence = 2;          // from 1, without a gap; 0 for registerIncarnation
  uint64 attachmentOffset = 3;  // where the bytes of this proposal begin in the entry's attachment
  oneof command {
    RegisterIncarnation registerIncarnation = 16;
    FenceIncarnation fenceIncarnation = 17;
    SetLevel setLevel = 18;
    CreateTopic createTopic = 19;
    DeleteTopic deleteTopic = 20;
    AlterConfigs alterConfigs = 21;
    CommitWal commitWal = 22;
    MoveExtents moveExtents = 23;
    CommitTable commitTable = 24;
    DropTable dropTable = 25;
    TrimPartitions trimPartitions = 26;
    Deleted deleted = 27;
    EnqueueDeletions enqueueDeletions = 28;
    AllocateProducerIds allocateProducerIds = 29;
    ExpireProducers expireProducers = 30;
    AssignShards assignShards = 31;
    PutGroup putGroup = 32;
    DeleteGroup deleteGroup = 33;
    CommitOffsets commitOffsets = 34;
    ExpireOffsets expireOffsets = 35;
    AnnouncePod announcePod = 36;
    RenewIncarnations renewIncarnations = 37;
    MoveLease moveLease = 38;
    MoveShards moveShards = 39;
    RegisterSchema registerSchema = 60;
    DeleteSchemas deleteSchemas = 61;
    AlterSchemaSettings alterSchemaSettings = 62;
    InitTransaction initTransaction = 48;
    AddToTransaction addToTransaction = 49;
    CommitTransactionOffsets commitTransactionOffsets = 50;
    EndTransaction endTransaction = 51;
    ExpireTransaction expireTransaction = 52;
    ForgetTransactionalIds forgetTransactionalIds = 53;
    WriteMarkers writeMarkers = 54;
    SetTableTyping setTableTyping = 70;
    CreatePartitions createPartitions = 56;
    ChangeConsumerGroup changeConsumerGroup = 80;
    HoldDeletions holdDeletions = 90;
    ForgetIncarnations forgetIncarnations = 91;
    OpenTimeline openTimeline = 92;
  }
}

message RegisterIncarnation { string pod = 1; bytes nonce = 2; uint32 level = 3; bool fenceOlder = 4; }
message FenceIncarnation { uint64 incarnation = 1; uint64 renewals = 2; }
message SetLevel { uint32 level = 1; }

message CreateTopic {
  string name = 1;
  string topicId = 2;
  uint32 partitions = 3;
  map<string, string> configs = 4;
  TablePlace table = 5;
}
message TablePlace { string namespace = 1; string name = 2; string uuid = 3; }
message DeleteTopic { uint64 topic = 1; string keepTableAs = 2; uint64 graceMs = 3; }

message CreatePartitions { uint64 topic = 1; uint32 partitions = 2; }

message AlterConfigs { ConfigTarget target = 1; map<string, string> set = 2; repeated string remove = 3; }
message ConfigTarget { oneof target { uint64 topic = 1; string broker = 2; string group = 3; } }

message CommitWal { string key = 1; uint64 sizeBytes = 2; uint64 walSequence = 3; repeated WalPart parts = 4; }
message WalPart {
  uint64 topic = 1;
  uint32 partition = 2;
  uint64 byteOffset = 3;
  repeated uint32 sizesBytes = 4;
  repeated uint32 offsetCounts = 5;
  repeated sint64 maxTimestampsMs = 6;
  repeated sint64 producerIds = 7;
  repeated sint32 producerEpochs = 8;
  repeated sint32 baseSequences = 9;
  repeated sint64 appendTimesMs = 10;
  repeated uint32 transactions = 11;    // level 2; none when no batch is transactional
}

message MoveExtents { repeated MoveTarget objects = 1; repeated Move moves = 2; }
message MoveTarget { string key = 1; uint64 sizeBytes = 2; uint64 walSequence = 3; }
message Move {
  uint64 topic = 1;
  uint32 partition = 2;
  uint64 firstOffset = 3;
  uint64 lastOffset = 4;
  uint64 fromObject = 5;
  uint32 to = 6;
  uint64 byteOffset = 7;
}

message CommitTable {
  uint64 topic = 1;
  uint64 expectedVersion = 2;
  string metadataKey = 3;
  uint64 publication = 4;
  sint64 snapshotId = 5;
  repeated OffsetRange converted = 6;
  repeated AddedFile added = 7;
  repeated uint64 removed = 8;
  repeated ObsoleteKey obsolete = 9;
  sint64 dataTimeMs = 10;
}
message OffsetRange { uint32 partition = 1; uint64 firstOffset = 2; uint64 lastOffset = 3; }
message AddedFile { string key = 1; uint64 sizeBytes = 2; uint64 rows = 3; uint32 level = 4; repeated FileRange ranges = 5; }
message FileRange {
  uint32 partition = 1;
  uint64 firstOffset = 2;
  uint64 lastOffset = 3;
  uint64 rows = 4;
  sint64 maxTimestampMs = 5;
  uint64 originalBytes = 6;
}
message ObsoleteKey { string key = 1; uint64 graceMs = 2; }
message DropTable { string tableUuid = 1; }
message SetTableTyping { uint64 topic = 1; uint64 expectedVersion = 2; string key = 3; }

message TrimPartitions { repeated Trim trims = 1; }
message Trim { uint64 topic = 1; uint32 partition = 2; uint64 logStartOffset = 3; }
message Deleted { repeated uint64 ids = 1; }
message EnqueueDeletions { repeated ObsoleteKey items = 1; }

message AllocateProducerIds { uint64 count = 1; }
message ExpireProducers { repeated ExpiredProducer items = 1; }
message ExpiredProducer { uint64 topic = 1; uint32 partition = 2; uint64 producerId = 3; uint64 lastOffset = 4; }

message AssignShards { repeated ShardOwner shards = 1; }
message ShardOwner { uint32 shard = 1; uint64 owner = 2; }

message PutGroup {
  uint64 shardEpoch = 1;
  GroupRecord group = 2;
  uint64 downgrades = 3;        // level 3
}
message GroupRecord {
  string groupId = 1;
  string protocolType = 2;
  optional string protocolName = 3;
  int32 generation = 4;
  optional string leader = 5;
  repeated GroupMember members = 6;
  sint64 stateTimeMs = 7;
}
message GroupMember {
  string memberId = 1;
  optional string instanceId = 2;
  string clientId = 3;
  string clientHost = 4;
  int32 rebalanceTimeoutMs = 5;
  int32 sessionTimeoutMs = 6;
  repeated GroupProtocol protocols = 7;
  bytes assignment = 8;
}
message GroupProtocol { string name = 1; bytes metadata = 2; }
message ChangeConsumerGroup {
  uint64 shardEpoch = 1;
  ConsumerGroupHead head = 2;
  repeated ConsumerMember members = 3;
  repeated string removed = 4;
  bool upgrades = 5;            // level 3
}
message ConsumerGroupHead {
  string groupId = 1;
  uint32 epoch = 2;
  uint32 assignmentEpoch = 3;
  string topicsHash = 4;
  string assignor = 5;
  sint64 stateTimeMs = 6;
  uint64 revision = 7;          // this and the next: level 3
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
  ClassicPart classic = 16;     // level 3; a member that speaks the classic protocol
}
message ClassicPart { sint32 sessionTimeoutMs = 1; repeated GroupProtocol protocols = 2; }
message OwnedPartitions {
  string topicId = 1;
  repeated uint32 partitions = 2;
  repeated uint32 epochs = 3;   // level 3; one a partition, or none
}
message DeleteGroup { uint64 shardEpoch = 1; string groupId = 2; }
message CommitOffsets { uint64 shardEpoch = 1; string groupId = 2; repeated OffsetItem items = 3; }
message OffsetItem {
  uint64 topic = 1;
  uint32 partition = 2;
  sint64 offset = 3;
  sint32 leaderEpoch = 4;
  string metadata = 5;
  sint64 commitTimeMs = 6;
  sint64 expireTimeMs = 7;
}
message InitTransaction { string transactionalId = 1; sint32 timeoutMs = 2; sint64 producerId = 3; sint32 producerEpoch = 4; }
message AddToTransaction {
  string transactionalId = 1;
  uint64 producerId = 2;
  uint32 producerEpoch = 3;
  repeated TopicPartition partitions = 4;
  string groupId = 5;
}
message TopicPartition { uint64 topic = 1; uint32 partition = 2; }
message CommitTransactionOffsets {
  string transactionalId = 1;
  uint64 producerId = 2;
  uint32 producerEpoch = 3;
  uint64 shardEpoch = 4;
  string groupId = 5;
  repeated OffsetItem items = 6;
  bool addGroup = 7;
}
message EndTransaction {
  string transactionalId = 1;
  uint64 producerId = 2;
  uint32 producerEpoch = 3;
  bool isCommit = 4;
  bool raisesEpoch = 5;
}
message ExpireTransaction { string transactionalId = 1; uint64 producerId = 2; uint32 producerEpoch = 3; sint64 startMs = 4; }
message ForgetTransactionalIds { repeated IdleTransactionalId items = 1; }
message IdleTransactionalId { string transactionalId = 1; uint64 producerId = 2; uint32 producerEpoch = 3; sint64 updateMs = 4; }
message WriteMarkers { repeated Marker markers = 1; }
message Marker {
  uint64 topic = 1;
  uint32 partition = 2;
  uint64 producerId = 3;
  uint32 producerEpoch = 4;
  bool isCommit = 5;
  uint32 transactionVersion = 6;
}
message ExpireOffsets { uint64 shardEpoch = 1; string groupId = 2; repeated ExpiredOffset items = 3; }
message ExpiredOffset { uint64 topic = 1; uint32 partition = 2; sint64 commitTimeMs = 3; }

message AnnouncePod { PodAbout about = 1; }
message PodAbout { repeated PodListener listeners = 1; string rack = 2; string peer = 3; uint32 phase = 4; }
message PodListener { string name = 1; string host = 2; uint32 port = 3; }
message RenewIncarnations { repeated Renewal items = 1; }
message Renewal { uint64 incarnation = 1; uint64 renewals = 2; }
message MoveLease { string name = 1; uint64 owner = 2; uint64 term = 3; }
message MoveShards { repeated ShardMove shards = 1; }
message ShardMove { uint32 shard = 1; uint64 owner = 2; uint64 epoch = 3; }

message RegisterSchema {
  string context = 1;
  string subject = 2;
  string guid = 3;
  bytes body = 4;
  repeated SchemaReference references = 5;
  uint32 id = 6;
  uint32 version = 7;
  uint64 expectedRevision = 8;
}
message SchemaReference { string context = 1; string subject = 2; uint32 version = 3; }
message DeleteSchemas {
  string context = 1;
  string subject = 2;
  repeated uint32 versions = 3;
  bool permanent = 4;
  uint64 expectedRevision = 5;
}
message AlterSchemaSettings { string context = 1; string subject = 2; optional string config = 3; optional string mode = 4; }

message HoldDeletions { string name = 1; uint64 forMs = 2; }
message ForgetIncarnations { repeated uint64 incarnations = 1; }
message OpenTimeline { uint64 lastEntry = 1; bytes nonce = 2; }
`

const root = loadSchema(ENTRIES_PROTO)

export const EntryType = root.lookupType('frazil.metadata.Entry')
export const ProposalType = root.lookupType('frazil.metadata.Proposal')
