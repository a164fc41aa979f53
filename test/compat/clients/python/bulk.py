"""Writes incompressible records with librdkafka. usage: bulk.py BOOTSTRAP TOPIC PARTITIONS BYTES RECORD_BYTES"""
import os, sys
from confluent_kafka import Producer

bootstrap, topic, partitions, total, size = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
failed = []
producer = Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 20, "batch.size": 1000000,
                     "queue.buffering.max.kbytes": 100000, "queue.buffering.max.messages": 200000, "message.timeout.ms": 300000})
report = lambda error, _m: failed.append(str(error)) if error else None  # noqa: E731
block = b""
for n in range(total // size):
    if len(block) < size:
        block = os.urandom(1 << 20)
    value, block = block[:size], block[size:]
    while True:
        try:
            producer.produce(topic, value, None, n % partitions, on_delivery=report)
            break
        except BufferError:
            producer.poll(0.5)
    producer.poll(0)
left = producer.flush(300)
if left or failed:
    sys.exit(f"{left} left, errors {failed[:3]}")
print(total // size)
