import java.io.PrintWriter;
import java.time.Duration;
import java.util.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Transactional loads that survive a broker that is killed (Kafka's own client; KIP-890 where the broker has it).
 *   load BOOTSTRAP TOPIC PARTITIONS PRODUCER OUTCOMES   as loader.py
 *   copy BOOTSTRAP FROM TO GROUP ID                     copies committed records once each, offsets in the transaction (KIP-447)
 * Both end when standard input closes.
 */
public class TransactionalLoad {
  static volatile boolean over = false;

  public static void main(String[] args) throws Exception {
    Thread input = new Thread(() -> {
      try {
        while (System.in.read() >= 0) {}
      } catch (Exception e) {
        System.err.println(e);
      }
      over = true;
    });
    input.setDaemon(true);
    input.start();
    if (args[0].equals("load")) load(args);
    else copy(args);
    System.exit(0);
  }

  static KafkaProducer<byte[], byte[]> producer(String bootstrap, String id) {
    Properties p = new Properties();
    p.put("bootstrap.servers", bootstrap);
    p.put("transactional.id", id);
    p.put("transaction.timeout.ms", "20000");
    p.put("linger.ms", "5");
    p.put("max.block.ms", "60000");
    p.put("reconnect.backoff.max.ms", "500");
    while (true) {
      KafkaProducer<byte[], byte[]> made = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer());
      try {
        made.initTransactions();
        return made;
      } catch (KafkaException e) {
        System.err.println(id + ": init: " + e);
        made.close(Duration.ZERO);
      }
    }
  }

  static void load(String[] args) throws Exception {
    String bootstrap = args[1], topic = args[2], name = args[4];
    int partitions = Integer.parseInt(args[3]);
    Random random = new Random(name.hashCode());
    Map<String, Integer> counts = new TreeMap<>();
    KafkaProducer<byte[], byte[]> producer = producer(bootstrap, name);
    try (PrintWriter out = new PrintWriter(args[5])) {
      for (int k = 0; !over; k++) {
        int total = 1 + random.nextInt(20);
        String outcome = random.nextDouble() < 0.7 ? "commit" : "abort";
        try {
          producer.beginTransaction();
          for (int i = 0; i < total; i++)
            producer.send(new ProducerRecord<>(topic, (k + i) % partitions, null, (name + " " + k + " " + i + " " + total).getBytes()));
          if (random.nextBoolean()) producer.flush();
        } catch (KafkaException e) {
          outcome = "abort";
        }
        boolean committing = false;
        try {
          if (outcome.equals("commit")) {
            committing = true;
            producer.commitTransaction();
          } else producer.abortTransaction();
        } catch (KafkaException e) {
          if (committing) outcome = "unknown";
          producer.close(Duration.ZERO);
          producer = producer(bootstrap, name);
        }
        counts.merge(outcome, 1, Integer::sum);
        out.println(k + " " + outcome);
        out.flush();
        Thread.sleep(10);
      }
    }
    System.out.println(name + " " + counts);
  }

  static void copy(String[] args) throws Exception {
    String bootstrap = args[1], to = args[3], group = args[4], id = args[5];
    Properties p = new Properties();
    p.put("bootstrap.servers", bootstrap);
    p.put("group.id", group);
    p.put("enable.auto.commit", "false");
    p.put("auto.offset.reset", "earliest");
    p.put("isolation.level", "read_committed");
    p.put("reconnect.backoff.max.ms", "500");
    long copied = 0;
    int quiet = 0;
    KafkaProducer<byte[], byte[]> producer = producer(bootstrap, id);
    KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    consumer.subscribe(List.of(args[2]));
    while (quiet < 20) {
      try {
        ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
        quiet = records.isEmpty() && over ? quiet + 1 : 0;
        if (records.isEmpty()) continue;
        producer.beginTransaction();
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
          producer.send(new ProducerRecord<>(to, record.partition(), null, record.value()));
          offsets.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        producer.commitTransaction();
        copied += records.count();
      } catch (KafkaException e) {
        // begin again from what was committed, whatever that was
        producer.close(Duration.ZERO);
        consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
        producer = producer(bootstrap, id);
        consumer = new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(args[2]));
      }
    }
    System.out.println(id + " copied " + copied);
  }
}
