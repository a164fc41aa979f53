import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.GroupType;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.*;

/**
 * A group rolled from the classic protocol to KIP-848 and back, member by member, under load, with a broker that is killed on the way. Every
 * record must be seen by the group, and nobody may end with an error. usage: Migration --bootstrap HOST:PORT
 */
public class Migration {
    static final int MEMBERS = 3, PARTITIONS = 6;
    static String bootstrap;
    static Admin admin;
    static final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    /** A consumer on a thread of its own, which commits what it has seen. */
    static class Member extends Thread {
        final KafkaConsumer<String, Long> consumer;
        final Set<Long> seen;
        final Set<TopicPartition> owned = ConcurrentHashMap.newKeySet();
        final AtomicBoolean stop = new AtomicBoolean();
        volatile Throwable failure;

        Member(String group, String topic, String protocol, Map<String, Object> more, Set<Long> seen) {
            this.seen = seen;
            Map<String, Object> config = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "group.id", group, "group.protocol", protocol,
                "auto.offset.reset", "earliest", "enable.auto.commit", "false", "metadata.max.age.ms", "1000"));
            if (protocol.equals("classic")) config.putAll(Map.of("session.timeout.ms", "10000", "heartbeat.interval.ms", "500"));
            config.putAll(more);
            if (protocol.equals("consumer")) config.remove("partition.assignment.strategy");
            consumer = new KafkaConsumer<>(config, new StringDeserializer(), new LongDeserializer());
            consumer.subscribe(List.of(topic), new ConsumerRebalanceListener() {
                public void onPartitionsAssigned(Collection<TopicPartition> given) { owned.addAll(given); }
                public void onPartitionsRevoked(Collection<TopicPartition> taken) { owned.removeAll(taken); }
                public void onPartitionsLost(Collection<TopicPartition> taken) { owned.removeAll(taken); }
            });
            start();
        }

        public void run() {
            try {
                while (!stop.get()) {
                    ConsumerRecords<String, Long> records = consumer.poll(Duration.ofMillis(100));
                    for (ConsumerRecord<String, Long> record : records) seen.add(record.value());
                    try {
                        if (!records.isEmpty()) consumer.commitSync();
                    } catch (CommitFailedException | RebalanceInProgressException | RetriableException again) {
                        // What was not committed is read again by whoever has it next.
                    }
                }
            } catch (Throwable error) {
                failure = error;
            } finally {
                consumer.close(CloseOptions.timeout(Duration.ofSeconds(5)));
            }
        }

        void end() throws InterruptedException {
            stop.set(true);
            join();
        }
    }

    static void until(String what, List<Member> members, BooleanSupplier done) throws InterruptedException {
        long deadline = System.currentTimeMillis() + 60_000;
        while (!done.getAsBoolean()) {
            for (Member member : members) if (member.failure != null) throw new IllegalStateException(what, member.failure);
            if (System.currentTimeMillis() > deadline)
                throw new IllegalStateException(what + ": not within 60 s; owned " + members.stream().map(m -> m.owned.toString()).toList());
            Thread.sleep(50);
        }
    }

    static boolean isShared(List<Member> members) {
        Set<TopicPartition> all = new HashSet<>();
        int sum = 0;
        for (Member member : members) { all.addAll(member.owned); sum += member.owned.size(); }
        return sum == PARTITIONS && all.size() == PARTITIONS && members.stream().noneMatch(m -> m.owned.isEmpty());
    }

    static GroupType typeOf(String group) {
        try {
            return admin.listGroups().all().get().stream().filter(g -> g.groupId().equals(group)).findFirst().flatMap(GroupListing::type).orElse(null);
        } catch (Exception error) {
            return null;
        }
    }

    static void roll(String name, Map<String, Object> more, boolean isStatic, boolean restarts) throws Exception {
        String group = "roll-" + name + "-" + Long.toString(System.nanoTime(), 36), topic = group;
        admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
        Set<Long> seen = ConcurrentHashMap.newKeySet();
        Set<Long> acked = ConcurrentHashMap.newKeySet();
        AtomicBoolean ends = new AtomicBoolean();
        Map<String, Object> writes = Map.of("bootstrap.servers", bootstrap, "linger.ms", "5");
        Thread load = new Thread(() -> {
            try (KafkaProducer<String, Long> producer = new KafkaProducer<>(writes, new StringSerializer(), new LongSerializer())) {
                for (long i = 0; !ends.get(); i++) {
                    long value = i;
                    producer.send(new ProducerRecord<>(topic, "k" + i % 97, value), (meta, error) -> { if (error == null) acked.add(value); });
                    if (i % 5 == 0) Thread.sleep(10);
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        load.start();
        List<Member> members = new ArrayList<>();
        for (int i = 0; i < MEMBERS; i++) members.add(new Member(group, topic, "classic", named(more, isStatic, i), seen));
        until(name + ": classic", members, () -> isShared(members));
        if (typeOf(group) != GroupType.CLASSIC) throw new IllegalStateException("not a classic group");
        for (String protocol : List.of("consumer", "classic")) {
            for (int i = 0; i < MEMBERS; i++) {
                members.get(i).end();
                members.set(i, new Member(group, topic, protocol, named(more, isStatic, i), seen));
                String what = name + ": " + (i + 1) + " of " + MEMBERS + " are " + protocol;
                until(what, members, () -> isShared(members));
                GroupType expected = protocol.equals("classic") && i == MEMBERS - 1 ? GroupType.CLASSIC : GroupType.CONSUMER;
                until(what + ", type " + expected, members, () -> typeOf(group) == expected);
                if (restarts && i == 1) {
                    System.out.println("restart");
                    in.readLine();
                    Thread.sleep(1000);
                    until(what + ", after a restart", members, () -> isShared(members));
                }
            }
        }
        ends.set(true);
        load.join();
        until(name + ": all records", members, () -> seen.containsAll(acked));
        for (Member member : members) member.end();
        for (Member member : members) if (member.failure != null) throw new IllegalStateException(name, member.failure);
        // In the end the group has committed every offset.
        Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
        Map<TopicPartition, OffsetSpec> ask = new HashMap<>();
        for (int p = 0; p < PARTITIONS; p++) ask.put(new TopicPartition(topic, p), OffsetSpec.latest());
        var latest = admin.listOffsets(ask).all().get();
        for (var each : latest.entrySet()) {
            if (each.getValue().offset() == 0) continue;
            OffsetAndMetadata offset = committed.get(each.getKey());
            if (offset == null || offset.offset() != each.getValue().offset())
                throw new IllegalStateException(name + ": " + each.getKey() + " ends at " + each.getValue().offset() + ", committed " + offset);
        }
        System.out.println("ok    java: " + name + " rolled to the consumer protocol and back, " + acked.size() + " records");
    }

    static Map<String, Object> named(Map<String, Object> more, boolean isStatic, int i) {
        Map<String, Object> all = new HashMap<>(more);
        if (isStatic) all.put("group.instance.id", "instance-" + i);
        return all;
    }

    public static void main(String[] args) throws Exception {
        bootstrap = args[1];
        admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
        roll("range", Map.of("partition.assignment.strategy", RangeAssignor.class.getName()), false, true);
        roll("cooperative", Map.of("partition.assignment.strategy", CooperativeStickyAssignor.class.getName()), false, false);
        roll("static", Map.of("partition.assignment.strategy", RangeAssignor.class.getName()), true, false);
        admin.close();
        System.out.println("migration: all ok");
    }
}
