import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * How long a group takes until every partition has one owner and members have the same number but for one: when all members start at once, when
 * a tenth leaves, when as many come. usage: Settle HOST:PORT PROTOCOL MEMBERS PARTITIONS; prints three numbers of milliseconds.
 */
public class Settle {
    static class Member extends Thread {
        final KafkaConsumer<byte[], byte[]> consumer;
        final AtomicBoolean stop = new AtomicBoolean();
        volatile int owned = 0;
        volatile Throwable failure;

        Member(String bootstrap, String group, String protocol, int[] owners) {
            Map<String, Object> config = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "group.id", group, "group.protocol", protocol,
                "enable.auto.commit", "false", "auto.offset.reset", "earliest"));
            if (protocol.equals("classic")) config.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
            consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(List.of(group), new ConsumerRebalanceListener() {
                void count(Collection<TopicPartition> some, int by) {
                    synchronized (owners) { for (TopicPartition each : some) owners[each.partition()] += by; owned += by * some.size(); }
                }
                public void onPartitionsAssigned(Collection<TopicPartition> given) { count(given, 1); }
                public void onPartitionsRevoked(Collection<TopicPartition> taken) { count(taken, -1); }
                public void onPartitionsLost(Collection<TopicPartition> taken) { count(taken, -1); }
            });
        }

        public void run() {
            try {
                while (!stop.get()) consumer.poll(Duration.ofMillis(200));
            } catch (Throwable error) {
                failure = error;
            } finally {
                consumer.close(CloseOptions.timeout(Duration.ofSeconds(10)));
            }
        }
    }

    static boolean isSettled(List<Member> members, int[] owners) {
        synchronized (owners) {
            for (int owner : owners) if (owner != 1) return false;
            int least = owners.length / members.size(), sum = 0;
            for (Member member : members) {
                if (member.owned < least || member.owned > least + 1) return false;
                sum += member.owned;
            }
            return sum == owners.length;
        }
    }

    static long settle(List<Member> members, int[] owners, Runnable change) throws InterruptedException {
        long begun = System.nanoTime();
        change.run();
        while (!isSettled(members, owners)) {
            for (Member member : members) if (member.failure != null) throw new IllegalStateException(member.failure);
            if (System.nanoTime() - begun > 240_000_000_000L) throw new IllegalStateException("not settled within 240 s");
            Thread.sleep(10);
        }
        return (System.nanoTime() - begun) / 1_000_000;
    }

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0], protocol = args[1], group = "settle-" + protocol + "-" + Long.toString(System.nanoTime(), 36);
        int size = Integer.parseInt(args[2]), partitions = Integer.parseInt(args[3]), some = Math.max(1, size / 10);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(group, partitions, (short) 1), new NewTopic(group + "-warm", 1, (short) 1))).all().get();
            Thread.sleep(3_000);
        }
        // The first group of a broker finds its coordinator only after a while: another one comes before.
        int[] alone = new int[1];
        Member warm = new Member(bootstrap, group + "-warm", protocol, alone);
        settle(List.of(warm), alone, warm::start);
        warm.stop.set(true);
        warm.join();
        int[] owners = new int[partitions];
        List<Member> members = new CopyOnWriteArrayList<>();
        for (int i = 0; i < size; i++) members.add(new Member(bootstrap, group, protocol, owners));
        long all = settle(members, owners, () -> members.forEach(Thread::start));
        Thread.sleep(6_000);
        List<Member> leaving = List.copyOf(members.subList(0, some));
        long left = settle(members, owners, () -> {
            members.removeAll(leaving);
            leaving.forEach(member -> member.stop.set(true));
        });
        for (Member member : leaving) member.join();
        Thread.sleep(6_000);
        List<Member> coming = new ArrayList<>();
        for (int i = 0; i < some; i++) coming.add(new Member(bootstrap, group, protocol, owners));
        long came = settle(members, owners, () -> {
            members.addAll(coming);
            coming.forEach(Thread::start);
        });
        System.out.println(all + " " + left + " " + came);
        members.forEach(member -> member.stop.set(true));
        for (Member member : members) member.join();
    }
}
