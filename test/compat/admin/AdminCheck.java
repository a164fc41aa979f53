import java.util.*;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.serialization.*;

/**
 * Kafka's own admin client asks for everything that administration needs, and looks at what it did with a producer and a consumer.
 * usage: AdminCheck BOOTSTRAP NODES      (NODES: how many nodes the cluster has). Prints a line for each check; exits 1 when one failed.
 */
public class AdminCheck {
  interface Body { void run() throws Exception; }

  static int failed = 0;

  static void check(String name, Body body) {
    try {
      body.run();
      System.out.println("ok   " + name);
    } catch (Throwable e) {
      failed++;
      System.out.println("FAIL " + name + ": " + e);
    }
  }

  static void same(Object want, Object got) {
    if (!Objects.equals(want, got)) throw new AssertionError("wanted " + want + ", got " + got);
  }

  static void refused(Class<?> error, Body body) throws Exception {
    try {
      body.run();
    } catch (ExecutionException e) {
      if (error.isInstance(e.getCause())) return;
      throw new AssertionError("wanted " + error.getSimpleName() + ", got " + e.getCause());
    }
    throw new AssertionError("wanted " + error.getSimpleName());
  }

  public static void main(String[] args) throws Exception {
    String bootstrap = args[0];
    int nodes = Integer.parseInt(args[1]);
    String topic = "admin-" + UUID.randomUUID();
    Map<String, Object> common = Map.of("bootstrap.servers", bootstrap, "default.api.timeout.ms", "30000");
    for (String one : bootstrap.split(",")) awaitNodes(one, nodes);
    try (Admin admin = Admin.create(common)) {
      run(admin, common, topic, nodes);
    }
    System.exit(failed == 0 ? 0 : 1);
  }

  /** Pods that have just started see each other a moment later. */
  static void awaitNodes(String bootstrap, int nodes) throws Exception {
    for (int left = 300; left > 0; left--) {
      try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap, "default.api.timeout.ms", "30000"))) {
        if (admin.describeCluster().nodes().get().size() == nodes) return;
      }
      Thread.sleep(100);
    }
    throw new IllegalStateException(bootstrap + " does not see " + nodes + " nodes after 30 s");
  }

  static void run(Admin admin, Map<String, Object> common, String topic, int nodes) throws Exception {
    admin.createTopics(List.of(new NewTopic(topic, Optional.of(2), Optional.empty()))).all().get();
    check("createPartitions", () -> {
      admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(12)), new CreatePartitionsOptions().validateOnly(true)).all().get();
      same(2, admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().size());
      admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(12))).all().get();
      refused(InvalidPartitionsException.class, () -> admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(12))).all().get());
      refused(InvalidReplicaAssignmentException.class, () -> admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(14, List.of(List.of(0))))).all().get());
      refused(UnknownTopicOrPartitionException.class, () -> admin.createPartitions(Map.of("nowhere", NewPartitions.increaseTo(3))).all().get());
    });
    check("describeTopics by DescribeTopicPartitions, page by page", () -> {
      DescribeTopicsOptions pages = new DescribeTopicsOptions().partitionSizeLimitPerResponse(5);
      TopicDescription described = admin.describeTopics(List.of(topic), pages).allTopicNames().get().get(topic);
      same(12, described.partitions().size());
      Set<Integer> leaders = described.partitions().stream().map(p -> p.leader().id()).collect(Collectors.toSet());
      if (nodes > 1 && leaders.size() < 2) throw new AssertionError("one leader for all: " + leaders);
      for (TopicPartitionInfo partition : described.partitions()) same(List.of(), partition.elr());
    });
    check("records of new partitions are written and read", () -> {
      Map<String, Object> settings = new HashMap<>(common);
      settings.put("group.id", "readers-" + topic);
      settings.put("auto.offset.reset", "earliest");
      try (Producer<String, String> producer = new KafkaProducer<>(common, new StringSerializer(), new StringSerializer());
          Consumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
        for (int p = 0; p < 12; p++) producer.send(new ProducerRecord<>(topic, p, "k", "v" + p));
        producer.flush();
        consumer.subscribe(List.of(topic));
        Set<String> got = new TreeSet<>();
        long giveUp = System.currentTimeMillis() + 30_000;
        while (got.size() < 12 && System.currentTimeMillis() < giveUp)
          for (ConsumerRecord<String, String> r : consumer.poll(java.time.Duration.ofMillis(200))) got.add(r.partition() + r.value());
        same(12, got.size());
        consumer.commitSync();
      }
    });
    check("deleteConsumerGroupOffsets", () -> {
      String group = "readers-" + topic;
      TopicPartition first = new TopicPartition(topic, 0);
      admin.deleteConsumerGroupOffsets(group, Set.of(first)).all().get();
      Map<TopicPartition, OffsetAndMetadata> left = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
      same(11, left.size());
      same(false, left.containsKey(first));
      refused(GroupIdNotFoundException.class, () -> admin.deleteConsumerGroupOffsets("none", Set.of(first)).all().get());
    });
    check("describeLogDirs: every partition, once for each replica, with its bytes", () -> {
      List<Integer> ids = admin.describeCluster().nodes().get().stream().map(Node::id).toList();
      same(nodes, ids.size());
      Map<Integer, Map<String, LogDirDescription>> dirs = admin.describeLogDirs(ids).allDescriptions().get();
      Map<TopicPartition, Integer> seen = new HashMap<>();
      for (Map<String, LogDirDescription> of : dirs.values())
        for (LogDirDescription dir : of.values())
          dir.replicaInfos().forEach((partition, info) -> {
            if (!partition.topic().equals(topic)) return;
            if (info.size() <= 0) throw new AssertionError(partition + " has " + info.size() + " bytes");
            seen.merge(partition, 1, Integer::sum);
          });
      for (TopicPartitionInfo p : admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions())
        same(p.replicas().size(), seen.get(new TopicPartition(topic, p.partition())));
    });
    check("listConfigResources", () -> {
      Collection<ConfigResource> all = admin.listConfigResources().all().get();
      same(true, all.contains(new ConfigResource(ConfigResource.Type.TOPIC, topic)));
      same((long) nodes, all.stream().filter(r -> r.type() == ConfigResource.Type.BROKER).count());
    });
    check("electLeaders", () -> {
      TopicPartition first = new TopicPartition(topic, 0);
      Map<TopicPartition, Optional<Throwable>> result = admin.electLeaders(ElectionType.PREFERRED, Set.of(first)).partitions().get();
      same(ElectionNotNeededException.class, result.get(first).get().getClass());
      same(Map.of(), admin.electLeaders(ElectionType.PREFERRED, null).partitions().get());
    });
    check("describeMetadataQuorum", () -> {
      QuorumInfo quorum = admin.describeMetadataQuorum().quorumInfo().get();
      same(1, quorum.voters().size());
      same(quorum.leaderId(), quorum.voters().get(0).replicaId());
      same(nodes - 1, quorum.observers().size());
      same(true, quorum.nodes().containsKey(quorum.leaderId()));
    });
    check("describeFeatures, updateFeatures", () -> {
      FeatureMetadata features = admin.describeFeatures().featureMetadata().get();
      short level = features.finalizedFeatures().get("transaction.version").maxVersionLevel();
      FeatureUpdate same = new FeatureUpdate(level, FeatureUpdate.UpgradeType.UPGRADE);
      admin.updateFeatures(Map.of("transaction.version", same), new UpdateFeaturesOptions()).all().get();
      FeatureUpdate higher = new FeatureUpdate((short) 99, FeatureUpdate.UpgradeType.UPGRADE);
      refused(InvalidUpdateVersionException.class, () -> admin.updateFeatures(Map.of("transaction.version", higher), new UpdateFeaturesOptions()).all().get());
    });
    check("reassignments", () -> {
      TopicPartition first = new TopicPartition(topic, 0);
      same(Map.of(), admin.listPartitionReassignments().reassignments().get());
      refused(NoReassignmentInProgressException.class, () -> admin.alterPartitionReassignments(Map.of(first, Optional.empty())).all().get());
      List<Integer> own = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().get(0).replicas().stream().map(Node::id).toList();
      admin.alterPartitionReassignments(Map.of(first, Optional.of(new NewPartitionReassignment(own)))).all().get();
      refused(InvalidReplicaAssignmentException.class, () ->
        admin.alterPartitionReassignments(Map.of(first, Optional.of(new NewPartitionReassignment(List.of(777))))).all().get());
    });
    check("describeClientQuotas", () -> same(Map.of(), admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get()));
    check("deleteRecords, describeProducers, listOffsets", () -> {
      TopicPartition first = new TopicPartition(topic, 0);
      same(1L, admin.deleteRecords(Map.of(first, RecordsToDelete.beforeOffset(-1))).lowWatermarks().get(first).get().lowWatermark());
      same(1L, admin.listOffsets(Map.of(first, OffsetSpec.earliest())).partitionResult(first).get().offset());
      same(1, admin.describeProducers(List.of(first)).partitionResult(first).get().activeProducers().size());
    });
  }
}
