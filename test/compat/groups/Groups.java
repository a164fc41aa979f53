import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.serialization.*;

/** Consumer groups (KIP-848) as Kafka's own client speaks them. usage: Groups --bootstrap HOST:PORT */
public class Groups {
    static String bootstrap;
    static final BufferedReader in = new BufferedReader(new InputStreamReader(System.in));

    static class Member implements ConsumerRebalanceListener {
        final KafkaConsumer<String, String> consumer;
        final Set<TopicPartition> owned = new HashSet<>();
        final List<ConsumerRecord<String, String>> seen = new ArrayList<>();
        int lost = 0;
        int assignments = 0;

        Member(String group, Map<String, Object> more) {
            Map<String, Object> config = new HashMap<>(Map.of("bootstrap.servers", bootstrap, "group.id", group, "group.protocol", "consumer",
                "auto.offset.reset", "earliest", "enable.auto.commit", "false", "metadata.max.age.ms", "1000"));
            config.putAll(more);
            consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
        }

        Member on(String topic) { consumer.subscribe(List.of(topic), this); return this; }
        public void onPartitionsAssigned(Collection<TopicPartition> given) { assignments++; owned.addAll(given); }
        public void onPartitionsRevoked(Collection<TopicPartition> taken) { owned.removeAll(taken); }
        public void onPartitionsLost(Collection<TopicPartition> taken) { lost++; owned.removeAll(taken); }
        void poll() { for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(50))) seen.add(record); }
        void close() { consumer.close(); }
    }

    static void until(String what, BooleanSupplier done, Member... members) {
        long deadline = System.currentTimeMillis() + 60_000;
        while (!done.getAsBoolean()) {
            if (System.currentTimeMillis() > deadline)
                throw new IllegalStateException(what + ": not within 60 s; owned " + Arrays.stream(members).map(m -> m.owned.toString()).toList());
            for (Member member : members) member.poll();
            for (Member a : members)
                for (Member b : members)
                    if (a != b && !Collections.disjoint(a.owned, b.owned)) throw new IllegalStateException(what + ": a partition has two owners");
        }
        ok(what);
    }

    static void ok(String what) { System.out.println("ok    java: " + what); }
    static void check(boolean holds, String what) { if (!holds) throw new IllegalStateException(what); }
    static boolean sizes(int size, Member... members) { return Arrays.stream(members).allMatch(m -> m.owned.size() == size); }

    /** The error that polling ends with. */
    static Throwable failure(Member member) {
        long deadline = System.currentTimeMillis() + 30_000;
        try {
            while (System.currentTimeMillis() < deadline) member.poll();
            return null;
        } catch (KafkaException error) {
            return error;
        } finally {
            member.consumer.close(CloseOptions.timeout(Duration.ofSeconds(1)));
        }
    }

    public static void main(String[] args) throws Exception {
        bootstrap = args[1];
        String id = Long.toString(System.nanoTime(), 36);
        String topic = "j848-" + id;
        Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
        admin.createTopics(List.of(new NewTopic(topic, 6, (short) 1))).all().get();
        Map<String, Object> writes = Map.of("bootstrap.servers", bootstrap, "transactional.id", "tx-" + id);
        KafkaProducer<String, String> producer = new KafkaProducer<>(writes, new StringSerializer(), new StringSerializer());
        producer.initTransactions();
        producer.beginTransaction();
        for (int n = 0; n < 60; n++) producer.send(new ProducerRecord<>(topic, n % 6, null, "" + n));
        producer.commitTransaction();
        rebalances(admin, producer, topic, "g-" + id);
        patterns(admin, id);
        statics(admin, topic, "s-" + id);
        refusals(topic, "r-" + id);
        protocols(admin, topic, "p-" + id);
        producer.close();
        admin.close();
        System.out.println("done");
    }

    static void rebalances(Admin admin, KafkaProducer<String, String> producer, String topic, String group) throws Exception {
        Member a = new Member(group, Map.of("isolation.level", "read_committed")).on(topic);
        until("one member has all and reads all", () -> sizes(6, a) && a.seen.size() == 60, a);
        Member b = new Member(group, Map.of()).on(topic);
        until("a second member gets half", () -> sizes(3, a, b), a, b);
        Member c = new Member(group, Map.of()).on(topic);
        until("a third member gets its share", () -> sizes(2, a, b, c), a, b, c);

        ConsumerGroupDescription told = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        check(told.type() == GroupType.CONSUMER && told.groupState() == GroupState.STABLE && told.members().size() == 3, "described " + told);
        check(told.partitionAssignor().equals("uniform") && told.members().stream().allMatch(m -> m.assignment().topicPartitions().size() == 2), "" + told);
        check(told.groupEpoch().get() == 3 && told.members().stream().allMatch(m -> m.memberEpoch().get() == 3 && m.upgraded().get()), "" + told);
        Set<String> stable = admin.listGroups(new ListGroupsOptions().withTypes(Set.of(GroupType.CONSUMER)).inGroupStates(Set.of(GroupState.STABLE)))
            .all().get().stream().map(GroupListing::groupId).collect(Collectors.toSet());
        Set<String> classic = admin.listGroups(new ListGroupsOptions().withTypes(Set.of(GroupType.CLASSIC)))
            .all().get().stream().map(GroupListing::groupId).collect(Collectors.toSet());
        check(stable.contains(group) && !classic.contains(group), "listed " + stable + " " + classic);
        ok("describe and list, by type and state");

        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        for (TopicPartition partition : a.owned) offsets.put(partition, new OffsetAndMetadata(5, "five"));
        a.consumer.commitSync(offsets);
        check(a.consumer.committed(a.owned).equals(offsets), "committed " + a.consumer.committed(a.owned));
        ok("commit and committed");
        TopicPartition held = a.owned.iterator().next();
        int before = a.seen.size();
        a.consumer.seek(held, 3);
        until("seek", () -> a.seen.stream().skip(before).anyMatch(r -> r.partition() == held.partition() && r.offset() == 3), a, b, c);

        producer.beginTransaction();
        producer.sendOffsetsToTransaction(Map.of(held, new OffsetAndMetadata(7)), a.consumer.groupMetadata());
        producer.commitTransaction();
        check(a.consumer.committed(Set.of(held)).get(held).offset() == 7, "offset in a transaction");
        ok("offsets in a transaction");

        int had = a.assignments + b.assignments + c.assignments;
        System.out.println("restart");
        check("restarted".equals(in.readLine()), "no restart");
        a.consumer.commitSync(Map.of(held, new OffsetAndMetadata(8)));
        for (long end = System.currentTimeMillis() + 3_000; System.currentTimeMillis() < end; ) for (Member m : List.of(a, b, c)) m.poll();
        check(sizes(2, a, b, c) && a.assignments + b.assignments + c.assignments == had && a.lost + b.lost + c.lost == 0, "rebalanced by a restart");
        ok("kill -9 of the broker is no rebalance");

        b.close();
        until("who leaves gives its share up", () -> sizes(3, a, c), a, c);
        a.close();
        c.close();
        check(admin.describeConsumerGroups(List.of(group)).all().get().get(group).groupState() == GroupState.EMPTY, "not empty");
        admin.deleteConsumerGroups(List.of(group)).all().get();
        check(admin.listGroups().all().get().stream().noneMatch(g -> g.groupId().equals(group)), "not deleted");
        ok("an empty group is deleted");
    }

    static void patterns(Admin admin, String id) throws Exception {
        Member a = new Member("pattern-" + id, Map.of());
        a.consumer.subscribe(new SubscriptionPattern("j848-" + id + ".*"), a);
        until("a pattern is matched by the broker", () -> sizes(6, a), a);
        admin.createTopics(List.of(new NewTopic("j848-" + id + "-b", 2, (short) 1))).all().get();
        until("a new topic that the pattern matches is assigned", () -> sizes(8, a), a);
        admin.deleteTopics(List.of("j848-" + id + "-b")).all().get();
        until("a deleted topic is taken away", () -> sizes(6, a), a);
        a.close();
    }

    static void statics(Admin admin, String topic, String group) throws Exception {
        Member one = new Member(group, Map.of("group.instance.id", "one", "group.remote.assignor", "range")).on(topic);
        Member two = new Member(group, Map.of("group.instance.id", "two", "group.remote.assignor", "range")).on(topic);
        until("static members, assignor range", () -> sizes(3, one, two), one, two);
        Set<Integer> first = one.owned.stream().map(TopicPartition::partition).collect(Collectors.toSet());
        check(first.equals(Set.of(0, 1, 2)), "range gave " + first);
        check(failure(new Member(group, Map.of("group.instance.id", "one")).on(topic)) instanceof UnreleasedInstanceIdException, "instance id twice");
        ok("an instance id that is taken: UNRELEASED_INSTANCE_ID");
        one.close();
        int had = two.assignments;
        Member back = new Member(group, Map.of("group.instance.id", "one", "group.remote.assignor", "range")).on(topic);
        until("a static member that comes back has what it had", () -> sizes(3, back, two), back, two);
        check(two.assignments == had, "the other was rebalanced");
        back.close();
        Set<MemberToRemove> away = Set.of(new MemberToRemove("one"));
        admin.removeMembersFromConsumerGroup(group, new RemoveMembersFromConsumerGroupOptions(away)).all().get();
        until("a static member that is away is taken out by an administrator", () -> sizes(6, two), two);
        two.close();
    }

    static void refusals(String topic, String group) {
        check(failure(new Member(group, Map.of("group.remote.assignor", "none")).on(topic)) instanceof UnsupportedAssignorException, "assignor");
        ok("UNSUPPORTED_ASSIGNOR");
        Member bad = new Member(group, Map.of());
        bad.consumer.subscribe(new SubscriptionPattern("(a"), bad);
        check(failure(bad) instanceof InvalidRegularExpression, "pattern");
        ok("INVALID_REGULAR_EXPRESSION");
    }

    static void protocols(Admin admin, String topic, String group) throws Exception {
        Member classic = new Member(group, Map.of("group.protocol", "classic")).on(topic);
        until("a classic group", () -> sizes(6, classic), classic);
        TopicPartition first = new TopicPartition(topic, 0);
        classic.consumer.commitSync(Map.of(first, new OffsetAndMetadata(4)));
        classic.close();
        Member consumer = new Member(group, Map.of()).on(topic);
        until("becomes a consumer group when it is empty", () -> sizes(6, consumer), consumer);
        check(consumer.consumer.committed(Set.of(first)).get(first).offset() == 4, "offsets did not stay");
        check(admin.describeConsumerGroups(List.of(group)).all().get().get(group).type() == GroupType.CONSUMER, "type");
        consumer.close();
        Member again = new Member(group, Map.of("group.protocol", "classic")).on(topic);
        until("and a classic one again", () -> sizes(6, again), again);
        check(again.consumer.committed(Set.of(first)).get(first).offset() == 4, "offsets did not stay");
        check(admin.describeConsumerGroups(List.of(group)).all().get().get(group).type() == GroupType.CLASSIC, "type");
        again.close();
    }
}
