"""Judges topics that transactional loads filled: every transaction is there whole or not at all, in the log and in the table.

usage: verify.py --bootstrap HOST:PORT --http URL --topic T --copy C --partitions N OUTCOMES...
"""
import argparse, os, sys
from collections import Counter
from confluent_kafka import Consumer, KafkaError, TopicPartition
from pyiceberg.catalog.rest import RestCatalog

parser = argparse.ArgumentParser()
for name in ("--bootstrap", "--http", "--topic", "--copy"):
    parser.add_argument(name, required=True)
parser.add_argument("--partitions", type=int, required=True)
parser.add_argument("outcomes", nargs="+")
args = parser.parse_args()
problems = []


def read(topic, isolation):
    consumer = Consumer({"bootstrap.servers": args.bootstrap, "group.id": "verify", "enable.partition.eof": True, "isolation.level": isolation,
                         "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, p, 0) for p in range(args.partitions)])
    rows, ended = {}, set()
    while len(ended) < args.partitions:
        messages = consumer.consume(10000, 30.0)
        assert messages, f"{topic} {isolation}: nothing came, the end was reached on {sorted(ended)} only"
        for m in messages:
            if m.error():
                assert m.error().code() == KafkaError._PARTITION_EOF, m.error()
                ended.add(m.partition())
            else:
                rows[(m.partition(), m.offset())] = m.value().decode()
    low_high = [consumer.get_watermark_offsets(TopicPartition(topic, p)) for p in range(args.partitions)]
    consumer.close()
    return rows, low_high


committed, _ = read(args.topic, "read_committed")
everything, _ = read(args.topic, "read_uncommitted")
values = Counter(committed.values())
problems += [f"{value} is there {n} times" for value, n in values.items() if n > 1][:5]
found = {}
for value in values:
    name, k, i, total = value.split()
    found.setdefault((name, int(k)), []).append((int(i), int(total)))
for key, parts in found.items():
    if sorted(i for i, _ in parts) != list(range(parts[0][1])):
        problems.append(f"transaction {key} is torn: {sorted(parts)}")
wanted = Counter()
for path in args.outcomes:
    name = os.path.basename(path)
    for line in open(path):
        k, outcome = line.split()
        wanted[outcome] += 1
        there = (name, int(k)) in found
        if there != (outcome == "commit") and outcome != "unknown":
            problems.append(f"transaction {name} {k}: {outcome}, and its records are {'there' if there else 'not there'}")
if not set(committed.items()) <= set(everything.items()):
    problems.append("read_committed has what read_uncommitted has not")


def table(topic, want):
    loaded = RestCatalog("frazil", uri=args.http + "/iceberg").load_table(("default", topic))
    data = loaded.scan(selected_fields=("kafka_partition", "kafka_offset", "kafka_value")).to_arrow().to_pylist()
    rows = {(r["kafka_partition"], r["kafka_offset"]): r["kafka_value"] for r in data}
    if len(data) != len(rows):
        problems.append(f"the table of {topic} has rows twice")
    if rows != want:
        missing = [place for place in want if place not in rows][:3]
        extra = [(place, rows[place]) for place in rows if place not in want][:3]
        problems.append(f"table and log of {topic} differ: {len(rows)} rows, {len(want)} records, missing {missing}, extra {extra}")
    return len(rows)


rows = table(args.topic, committed)
copied, _ = read(args.copy, "read_committed")
if Counter(copied.values()) != values:
    lost, doubled = values - Counter(copied.values()), Counter(copied.values()) - values
    problems.append(f"the copy differs: {sum(lost.values())} lost {list(lost)[:3]}, {sum(doubled.values())} too many {list(doubled)[:3]}")
rows += table(args.copy, copied)
print(f"{dict(wanted)}, {len(committed)} records committed, {len(everything)} in all, {len(copied)} copied, {rows} rows, {len(problems)} problems")
for problem in problems[:10]:
    print("  " + problem)
sys.exit(1 if problems else 0)
