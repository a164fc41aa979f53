import java.io.PrintWriter;
import java.util.*;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** As python/loader.py, with the Java client: arguments BOOTSTRAP TOPIC PARTITIONS NAME ACKED_FILE RATE. */
public class Load {
  public static void main(String[] args) throws Exception {
    Properties p = new Properties();
    p.put("bootstrap.servers", args[0]);
    p.put("enable.idempotence", "true");
    p.put("linger.ms", "5");
    p.put("delivery.timeout.ms", "300000");
    p.put("request.timeout.ms", "10000");
    p.put("reconnect.backoff.max.ms", "500");
    p.put("max.block.ms", "120000");
    int partitions = Integer.parseInt(args[2]);
    long rate = Long.parseLong(args[5]);
    AtomicLong acked = new AtomicLong();
    List<String> failed = Collections.synchronizedList(new ArrayList<>());
    Random random = new Random();
    long n = 0;
    try (PrintWriter out = new PrintWriter(args[4]); Producer<byte[], byte[]> producer = new KafkaProducer<>(p, new ByteArraySerializer(), new ByteArraySerializer())) {
      long begun = System.nanoTime();
      while (true) {
        if (n % 100 == 0) {
          if (System.in.available() > 0 && System.in.read() >= 0) break;
          long aheadMs = n * 1000 / rate - (System.nanoTime() - begun) / 1_000_000;
          if (aheadMs > 0) Thread.sleep(aheadMs);
        }
        byte[] filler = new byte[100];
        random.nextBytes(filler);
        byte[] head = (args[3] + " " + n + " ").getBytes();
        byte[] value = Arrays.copyOf(head, head.length + filler.length);
        System.arraycopy(filler, 0, value, head.length, filler.length);
        long number = n++;
        producer.send(new ProducerRecord<>(args[1], (int) (number % partitions), ("k" + number % 100).getBytes(), value), (m, e) -> {
          if (e != null) failed.add(e.toString());
          else {
            acked.incrementAndGet();
            synchronized (out) { out.println(number + " " + m.partition() + " " + m.offset()); }
          }
        });
      }
      producer.flush();
    }
    System.out.println(n + " " + acked.get() + " java " + failed.stream().limit(3).toList());
    System.exit(failed.isEmpty() && acked.get() == n ? 0 : 1);
  }
}
