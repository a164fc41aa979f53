"""Judges a topic that loader.py filled: nothing acknowledged is missing or doubled, in the log and in the table.

usage: verify_load.py --bootstrap HOST:PORT --http URL --topic T --table NAME --partitions N ACKED_FILE...
"""
import argparse, os, sys
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

consumer = Consumer({"bootstrap.servers": args.bootstrap, "group.id": "verify", "enable.partition.eof": True, "auto.offset.reset": "earliest", "enable.auto.commit": False})
consumer.assign([TopicPartition(args.topic, p, 0) for p in range(args.partitions)])
log, ended = {p: {} for p in range(args.partitions)}, set()
while len(ended) < args.partitions:
    for m in consumer.consume(10000, 20.0):
        if m.error():
            assert m.error().code() == KafkaError._PARTITION_EOF, m.error()
            ended.add(m.partition())
        else:
            assert m.offset() not in log[m.partition()], f"offset {m.offset()} twice"
            log[m.partition()][m.offset()] = m.value()
consumer.close()

seen, problems = {}, []
for p, rows in log.items():
    if sorted(rows) != list(range(len(rows))):
        problems.append(f"partition {p}: offsets have holes")
    last = {}
    for offset in sorted(rows):
        name, n = rows[offset].split(b" ")[:2]
        key = (name.decode(), int(n))
        if key in seen:
            problems.append(f"{key} twice: {seen[key]} and {(p, offset)}")
        seen[key] = (p, offset)
        if last.get(name, -1) >= int(n):
            problems.append(f"partition {p}: {name.decode()} {n.decode()} after {last[name]}")
        last[name] = int(n)
acked = 0
for path in args.acked:
    name = os.path.basename(path)
    for line in open(path):
        n, p, offset = map(int, line.split())
        acked += 1
        if seen.get((name, n)) != (p, offset):
            problems.append(f"acknowledged {name} {n} at {(p, offset)}: log has {seen.get((name, n))}")

table = RestCatalog("frazil", uri=args.http + "/iceberg").load_table(("default", args.table))
data = table.scan(selected_fields=("kafka_partition", "kafka_offset", "kafka_value", "kafka_value_bytes", "kafka_value_form")).to_arrow().to_pylist()
rows = {}
for r in data:
    place = (r["kafka_partition"], r["kafka_offset"])
    if place in rows:
        problems.append(f"the table has {place} twice")
    rows[place] = r["kafka_value"].encode() if r["kafka_value_form"] == 1 else r["kafka_value_bytes"]
want = {(p, o): v for p, part in log.items() for o, v in part.items()}
if rows != want:
    missing = [place for place in want if place not in rows][:3]
    extra = [place for place in rows if place not in want][:3]
    problems.append(f"table and log differ: {len(rows)} rows, {len(want)} records, missing {missing}, extra {extra}")
print(f"{acked} acknowledged, {len(seen)} in the log, {len(rows)} in the table, {len(problems)} problems")
for problem in problems[:10]:
    print("  " + problem)
sys.exit(1 if problems else 0)
