import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.*;

/** The Java client: writes and reads the records of test/compat (see its README). */
public class Client {
  static final Map<String, String> options = new HashMap<>();

  public static void main(String[] args) throws Exception {
    for (int i = 1; i < args.length; i++) {
      String name = args[i].substring(2);
      options.put(name, i + 1 < args.length && !args[i + 1].startsWith("--") ? args[++i] : "true");
    }
    switch (args[0]) {
      case "produce" -> produce();
      case "consume" -> consume();
      case "time" -> time();
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  static byte[] raw(String text) {
    return text == null ? null : Base64.getDecoder().decode(text);
  }

  static final Pattern LINE = Pattern.compile("\\{\"p\":(\\d+),\"k\":(null|\"[^\"]*\"),\"v\":(null|\"[^\"]*\"),\"h\":\\[(.*)\\],\"t\":(-?\\d+)\\}");
  static final Pattern HEADER = Pattern.compile("\\[\"((?:[^\"\\\\]|\\\\.)*)\",(null|\"[^\"]*\")\\]");

  static String unquote(String text) {
    return text.equals("null") ? null : text.substring(1, text.length() - 1);
  }

  static void produce() throws Exception {
    Properties p = new Properties();
    p.put("bootstrap.servers", options.get("bootstrap"));
    p.put("compression.type", options.getOrDefault("codec", "none"));
    p.put("acks", options.getOrDefault("acks", "all"));
    p.put("enable.idempotence", options.containsKey("idempotent") ? "true" : "false");
    p.put("linger.ms", "5");
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (String line : Files.readAllLines(Path.of(options.get("records")))) {
        Matcher m = LINE.matcher(line);
        if (!m.matches()) throw new IllegalStateException(line);
        List<Header> headers = new ArrayList<>();
        Matcher h = HEADER.matcher(m.group(4));
        while (h.find()) headers.add(new RecordHeader(h.group(1), raw(unquote(h.group(2)))));
        sent.add(producer.send(new ProducerRecord<>(options.get("topic"), Integer.parseInt(m.group(1)), Long.parseLong(m.group(5)),
            raw(unquote(m.group(2))), raw(unquote(m.group(3))), headers)));
      }
      producer.flush();
      for (Future<RecordMetadata> f : sent) f.get();
    }
  }

  static KafkaConsumer<byte[], byte[]> consumer() {
    Properties p = new Properties();
    p.put("bootstrap.servers", options.get("bootstrap"));
    p.put("auto.offset.reset", "earliest");
    p.put("enable.auto.commit", "false");
    p.put("max.poll.records", "5000");
    if (options.containsKey("group")) p.put("group.id", options.get("group"));
    return new KafkaConsumer<>(p, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  static void time() {
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      TopicPartition tp = new TopicPartition(options.get("topic"), Integer.parseInt(options.getOrDefault("partition", "0")));
      OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(tp, Long.parseLong(options.get("timestamp")))).get(tp);
      System.out.println(found == null ? -1 : found.offset());
    }
  }

  static void put(MessageDigest d, byte[] b) {
    d.update(ByteBuffer.allocate(4).putInt(b == null ? -1 : b.length).array());
    if (b != null) d.update(b);
  }

  static void consume() throws Exception {
    long[] want = Arrays.stream(options.get("counts").split(",")).mapToLong(Long::parseLong).toArray();
    long[] start = options.containsKey("start") ? Arrays.stream(options.get("start").split(",")).mapToLong(Long::parseLong).toArray() : new long[want.length];
    long[] got = new long[want.length];
    MessageDigest[] sums = new MessageDigest[want.length];
    for (int i = 0; i < sums.length; i++) sums[i] = MessageDigest.getInstance("SHA-256");
    try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
      String topic = options.get("topic");
      if (options.containsKey("group")) consumer.subscribe(List.of(topic));
      else {
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < want.length; i++) all.add(new TopicPartition(topic, i));
        consumer.assign(all);
        for (int i = 0; i < want.length; i++) consumer.seek(all.get(i), start[i]);
      }
      long deadline = System.currentTimeMillis() + 120_000;
      while (Arrays.stream(got).sum() < Arrays.stream(want).sum()) {
        if (System.currentTimeMillis() > deadline) throw new IllegalStateException("got " + Arrays.toString(got) + " within 120 s");
        for (ConsumerRecord<byte[], byte[]> r : consumer.poll(Duration.ofMillis(500))) {
          MessageDigest d = sums[r.partition()];
          d.update(ByteBuffer.allocate(16).putLong(r.offset()).putLong(r.timestamp()).array());
          put(d, r.key());
          put(d, r.value());
          Header[] headers = r.headers().toArray();
          d.update(ByteBuffer.allocate(4).putInt(headers.length).array());
          for (Header h : headers) {
            put(d, h.key().getBytes(StandardCharsets.UTF_8));
            put(d, h.value());
          }
          got[r.partition()]++;
        }
      }
      if (options.containsKey("group")) consumer.commitSync();
    }
    for (int i = 0; i < sums.length; i++) System.out.println(i + " " + got[i] + " " + HexFormat.of().formatHex(sums[i].digest()));
  }
}
