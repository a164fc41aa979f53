"""Judges a topic that loader.py filled: nothing acknowledged is missing or doubled, in the log and in the table.

usage: verify_load.py --bootstrap HOST:PORT --http URL --topic T --table NAME --partitions N ACKED_FILE...
Keeps 8 bytes a record and copy: ten million records are 240 MB.
"""
import argparse, os, sys
from array import array
from confluent_kafka import Consumer, KafkaError, TopicPartition
from pyiceberg.catalog.rest import RestCatalog

parser = argparse.ArgumentParser()
parser.add_argument("--bootstrap", required=True)
parser.add_argument("--http", required=True)
parser.add_argument("--topic", required=True)
parser.add_argument("--table", required=True)
parser.add_argument("--partitions", type=int, required=True)
parser.add_argument("acked", nargs="+")
args = parser.parse_args()

problems = []
log = [array("q") for _ in range(args.partitions)]  # the hash of each value, by offset
places = {}  # by producer: partition << 48 | offset of each number, -1 for none
count = 0


def take(p, offset, value):
    global count
    if offset != len(log[p]):
        problems.append(f"partition {p}: offset {offset} comes after {len(log[p]) - 1}")
        while len(log[p]) < offset:
            log[p].append(0)
    log[p].append(hash(value))
    name, n = value.split(b" ", 2)[:2]
    name, n = name.decode(), int(n)
    seen = places.setdefault(name, array("q"))
    if n >= len(seen):
        seen.extend([-1] * (max(n + 1, 2 * len(seen)) - len(seen)))
    if seen[n] >= 0:
        problems.append(f"{name} {n} twice: {seen[n] >> 48, seen[n] & (1 << 48) - 1} and {(p, offset)}")
    seen[n] = p << 48 | offset
    if last[p].get(name, -1) >= n:
        problems.append(f"partition {p}: {name} {n} after {last[p][name]}")
    last[p][name] = n
    count += 1


consumer = Consumer({"bootstrap.servers": args.bootstrap, "group.id": "verify", "enable.partition.eof": True, "auto.offset.reset": "earliest", "enable.auto.commit": False})
consumer.assign([TopicPartition(args.topic, p, 0) for p in range(args.partitions)])
last, ended = [{} for _ in range(args.partitions)], set()
while len(ended) < args.partitions:
    messages = consumer.consume(10000, 60.0)
    assert messages, f"nothing came for a minute, the end was reached on {sorted(ended)} only"
    for m in messages:
        if m.error():
            assert m.error().code() == KafkaError._PARTITION_EOF, m.error()
            ended.add(m.partition())
        else:
            take(m.partition(), m.offset(), m.value())
consumer.close()

acked = 0
for path in args.acked:
    name = os.path.basename(path)
    seen = places.get(name, array("q"))
    for line in open(path):
        n, p, offset = map(int, line.split())
        acked += 1
        if n >= len(seen) or seen[n] != p << 48 | offset:
            problems.append(f"acknowledged {name} {n} at {(p, offset)}: it is not there")

table = RestCatalog("frazil", uri=args.http + "/iceberg").load_table(("default", args.table))
fields = ("kafka_partition", "kafka_offset", "kafka_value", "kafka_value_bytes", "kafka_value_form")
found, rows = [bytearray(len(part)) for part in log], 0
for batch in table.scan(selected_fields=fields).to_arrow_batch_reader():
    columns = [batch.column(batch.schema.get_field_index(field)).to_pylist() for field in fields]
    for p, offset, text, raw, form in zip(*columns):
        rows += 1
        if offset >= len(log[p]):
            problems.append(f"the table has {(p, offset)}, the log ends at {len(log[p])}")
            continue
        if found[p][offset]:
            problems.append(f"the table has {(p, offset)} twice")
        found[p][offset] = 1
        if hash(text.encode() if form == 1 else raw) != log[p][offset]:
            problems.append(f"{(p, offset)} differs between table and log")
for p, part in enumerate(found):
    if part.count(0):
        problems.append(f"partition {p}: {part.count(0)} records are not in the table, the first at {part.index(0)}")
print(f"{acked} acknowledged, {count} in the log, {rows} in the table, {len(problems)} problems", flush=True)
for problem in problems[:10]:
    print("  " + problem)
sys.exit(1 if problems else 0)
