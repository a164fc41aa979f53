"""The reference: what a Kafka consumer reads. usage: read_consumer.py BOOTSTRAP TOPIC PARTITIONS TIME"""
import datetime, json, sys
from confluent_kafka import Consumer, KafkaError, TopicPartition
from rows import show, show_filter

bootstrap, topic, partitions, moment = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "rows", "enable.partition.eof": True, "auto.offset.reset": "earliest", "enable.auto.commit": False})
consumer.assign([TopicPartition(topic, p, 0) for p in range(partitions)])
rows, ended = [], set()
while len(ended) < partitions:
    for m in consumer.consume(10000, 20.0):
        if m.error():
            assert m.error().code() == KafkaError._PARTITION_EOF, m.error()
            ended.add(m.partition())
        else:
            hexed = lambda b: None if b is None else b.hex()  # noqa: E731
            rows.append((m.partition(), m.offset(), m.timestamp()[1] * 1000, hexed(m.key()), hexed(m.value()), [[k, hexed(v)] for k, v in m.headers() or []]))
consumer.close()
show(rows)
since = int(datetime.datetime.fromisoformat(moment + "+00:00").timestamp() * 1_000_000)
show_filter("offsets", sum(r[0] == 1 and 100 <= r[1] <= 249 for r in rows))
show_filter("key", sum(r[3] == b"key-5".hex() for r in rows))
show_filter("time", sum(r[2] >= since for r in rows))
show_filter("null key", sum(r[3] is None for r in rows))
show_filter("text", sum(r[4] is not None and r[4].startswith(b'{"n":12'.hex()) for r in rows))
