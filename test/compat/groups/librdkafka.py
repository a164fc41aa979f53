"""Consumer groups (KIP-848) as librdkafka speaks them: join, leave, die, commit, seek, pattern, static members."""
import argparse
import os
import signal
import subprocess
import sys
import time
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

args = argparse.ArgumentParser()
args.add_argument("--bootstrap", required=True)
args.add_argument("--dies", nargs=2, metavar=("GROUP", "TOPIC"))
args = args.parse_args()


class Member:
    def __init__(self, group, topics, **more):
        self.owned, self.seen, self.lost = set(), [], 0
        self.consumer = Consumer({"bootstrap.servers": args.bootstrap, "group.id": group, "group.protocol": "consumer",
                                  "auto.offset.reset": "earliest", "enable.auto.commit": False,
                                  "topic.metadata.refresh.interval.ms": 1000, **more})
        self.consumer.subscribe(topics, on_assign=self.assign, on_revoke=self.revoke, on_lost=self.lose)

    def assign(self, consumer, partitions):
        self.owned |= {(p.topic, p.partition) for p in partitions}
        consumer.incremental_assign(partitions)

    def revoke(self, consumer, partitions):
        self.owned -= {(p.topic, p.partition) for p in partitions}
        consumer.incremental_unassign(partitions)

    def lose(self, consumer, partitions):
        self.lost += 1
        self.revoke(consumer, partitions)

    def poll(self):
        message = self.consumer.poll(0.05)
        if message is not None and message.error() is None:
            self.seen.append((message.topic(), message.partition(), message.offset()))

    def close(self):
        self.consumer.close()


def until(members, done, what, seconds=60):
    deadline = time.time() + seconds
    while not done():
        if time.time() > deadline:
            raise SystemExit(f"{what}: not within {seconds} s; owned {[sorted(m.owned) for m in members]}, seen {[len(m.seen) for m in members]}")
        for member in members:
            member.poll()
        for a in members:
            for b in members:
                if a is not b and a.owned & b.owned:
                    raise SystemExit(f"{what}: {a.owned & b.owned} have two owners")
    print(f"ok    librdkafka: {what}", flush=True)


if args.dies:
    member = Member(args.dies[0], [args.dies[1]])
    while not member.owned:
        member.poll()
    print("joined", flush=True)
    while True:
        member.poll()

suffix = os.getpid()
topic, other = f"kip848-{suffix}", f"kip848-{suffix}-b"
admin = AdminClient({"bootstrap.servers": args.bootstrap})
admin.create_topics([NewTopic(topic, 6, 1)])[topic].result()
producer = Producer({"bootstrap.servers": args.bootstrap})
for n in range(60):
    producer.produce(topic, str(n), partition=n % 6)
producer.flush()
sizes = lambda *members: sorted(len(m.owned) for m in members)

group = f"lrk-{suffix}"
a = Member(group, [topic])
until([a], lambda: len(a.owned) == 6 and len(a.seen) == 60, "one member has all and reads all")
b = Member(group, [topic])
until([a, b], lambda: sizes(a, b) == [3, 3], "a second member gets half")
c = Member(group, [topic])
until([a, b, c], lambda: sizes(a, b, c) == [2, 2, 2], "a third member gets its share")
a.consumer.commit(offsets=[TopicPartition(t, p, 5) for t, p in sorted(a.owned)], asynchronous=False)
held = sorted(a.owned)
got = a.consumer.committed([TopicPartition(t, p) for t, p in held], timeout=20)
assert [p.offset for p in got] == [5, 5], got
print("ok    librdkafka: commit and committed")
where, part = held[0]
before = len(a.seen)
a.consumer.seek(TopicPartition(where, part, 3))
until([a, b, c], lambda: (where, part, 3) in a.seen[before:], "seek")
b.close()
until([a, c], lambda: sizes(a, c) == [3, 3], "who leaves gives its share up")
child = subprocess.Popen([sys.executable, __file__, "--bootstrap", args.bootstrap, "--dies", group, topic], stdout=subprocess.PIPE)
until([a, c], lambda: sizes(a, c) == [2, 2], "a member of another process joins")
assert child.stdout.readline().strip() == b"joined"
child.send_signal(signal.SIGKILL)
child.wait()
until([a, c], lambda: sizes(a, c) == [3, 3], "who dies is taken out after its session")
a.close()
c.close()
d = Member(group, [topic])
until([d], lambda: any((t, p, 5) in d.seen for t, p in held) and len(d.owned) == 6, "a new member goes on where was committed")
assert not any((t, p, o) in d.seen for t, p in held for o in range(5)), "read what was committed"
d.close()

pattern = Member(f"pattern-{suffix}", [f"^kip848-{suffix}.*"])
until([pattern], lambda: len(pattern.owned) == 6, "a pattern is matched by the broker")
admin.create_topics([NewTopic(other, 2, 1)])[other].result()
until([pattern], lambda: len(pattern.owned) == 8, "a new topic that the pattern matches is assigned")
pattern.close()

static = f"static-{suffix}"
one = Member(static, [topic], **{"group.instance.id": "one"})
two = Member(static, [topic], **{"group.instance.id": "two"})
until([one, two], lambda: sizes(one, two) == [3, 3], "static members")
kept = set(one.owned)
one.close()
moved = two.owned.copy()
back = Member(static, [topic], **{"group.instance.id": "one"})
until([back, two], lambda: back.owned == kept and two.owned == moved, "a static member that comes back has what it had")
back.close()
two.close()
print("done")
