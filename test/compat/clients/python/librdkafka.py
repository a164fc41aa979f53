"""librdkafka through confluent-kafka: writes and reads the records of test/compat."""
import time
from common import Digest, arguments, records
from confluent_kafka import Consumer, Producer, TopicPartition

args = arguments()
if args.action == "produce":
    errors = []
    producer = Producer({"bootstrap.servers": args.bootstrap, "compression.type": args.codec, "acks": args.acks, "linger.ms": 5,
                         "enable.idempotence": args.idempotent, "message.timeout.ms": 60000})
    for partition, key, value, headers, timestamp in records(args.records):
        while True:
            try:
                producer.produce(args.topic, value, key, partition, timestamp=timestamp, headers=headers,
                                 on_delivery=lambda error, _m: errors.append(str(error)) if error else None)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
    left = producer.flush(60)
    if left or errors:
        raise SystemExit(f"{left} left, errors {errors[:3]}")
elif args.action == "time":
    consumer = Consumer({"bootstrap.servers": args.bootstrap, "group.id": "time"})
    print(consumer.offsets_for_times([TopicPartition(args.topic, args.partition, args.timestamp)], timeout=20)[0].offset)
    consumer.close()
else:
    counts = [int(c) for c in args.counts.split(",")]
    starts = [int(s) for s in args.start.split(",")] if args.start else [0] * len(counts)
    consumer = Consumer({"bootstrap.servers": args.bootstrap, "group.id": args.group or "assigned", "auto.offset.reset": "earliest",
                         "enable.auto.commit": False, "session.timeout.ms": 10000})
    if args.group:
        consumer.subscribe([args.topic])
    else:
        consumer.assign([TopicPartition(args.topic, p, starts[p]) for p in range(len(counts))])
    digest, deadline = Digest(len(counts)), time.time() + 120
    while sum(digest.counts) < sum(counts):
        if time.time() > deadline:
            raise SystemExit(f"got {digest.counts} of {counts} within 120 s")
        for message in consumer.consume(5000, 0.5):
            if message.error():
                raise SystemExit(str(message.error()))
            digest.add(message.partition(), message.offset(), message.timestamp()[1], message.key(), message.value(), message.headers() or [])
    if args.group:
        consumer.commit(asynchronous=False)
    consumer.close()
    digest.show()
