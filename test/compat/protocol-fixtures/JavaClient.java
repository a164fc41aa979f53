import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.*;

/** Most APIs that the Java client speaks, once; for record-clients.ts. */
public class JavaClient {
  public static void main(String[] args) throws Exception {
    String topic = "java-" + ProcessHandle.current().pid();
    String group = topic + "-group";
    Map<String, Object> base = Map.of("bootstrap.servers", System.getenv("BOOTSTRAP"), "client.id", "java");
    TopicPartition first = new TopicPartition(topic, 0);
    try (Admin admin = Admin.create(base)) {
      NewTopic created = new NewTopic(topic, 2, (short) 1).configs(Map.of("retention.ms", "3600000"));
      admin.createTopics(List.of(created)).all().get();
      admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(3))).all().get();
      admin.describeCluster(new DescribeClusterOptions().includeAuthorizedOperations(true)).authorizedOperations().get();
      admin.listTopics().names().get();
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
      admin.describeConfigs(List.of(resource), new DescribeConfigsOptions().includeSynonyms(true)).all().get();
      AlterConfigOp set = new AlterConfigOp(new ConfigEntry("retention.ms", "7200000"), AlterConfigOp.OpType.SET);
      admin.incrementalAlterConfigs(Map.of(resource, List.of(set))).all().get();

      for (Map<String, Object> settings : List.<Map<String, Object>>of(Map.of(), Map.of("compression.type", "gzip", "enable.idempotence", false, "acks", "0"))) {
        Map<String, Object> all = new HashMap<>(base);
        all.putAll(settings);
        try (Producer<String, String> producer = new KafkaProducer<>(all, new StringSerializer(), new StringSerializer())) {
          for (int partition = 0; partition < 3; partition++) producer.send(new ProducerRecord<>(topic, partition, "k", "v"));
        }
      }

      Map<String, Object> settings = new HashMap<>(base);
      settings.putAll(Map.of("group.id", group, "auto.offset.reset", "earliest", "session.timeout.ms", 6000, "heartbeat.interval.ms", 300));
      try (Consumer<String, String> consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
        consumer.subscribe(List.of(topic));
        int seen = 0;
        while (seen < 6) seen += consumer.poll(Duration.ofMillis(500)).count();
        consumer.poll(Duration.ofMillis(800));
        consumer.commitSync();
        consumer.offsetsForTimes(Map.of(first, 1L));
        // a position with an epoch is validated by OffsetForLeaderEpoch
        consumer.seek(first, new OffsetAndMetadata(1, Optional.of(0), ""));
        consumer.poll(Duration.ofMillis(500));
        admin.describeClassicGroups(List.of(group)).all().get();
        admin.listGroups().all().get();
        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
      }
      admin.listOffsets(Map.of(first, OffsetSpec.maxTimestamp(), new TopicPartition(topic, 1), OffsetSpec.latest())).all().get();
      admin.deleteRecords(Map.of(first, RecordsToDelete.beforeOffset(1))).all().get();
      admin.deleteConsumerGroupOffsets(group, Set.of(first)).all().get();
      admin.deleteConsumerGroups(List.of(group)).all().get();
      admin.deleteTopics(List.of(topic)).all().get();
    }
  }
}
